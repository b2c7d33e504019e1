package helix_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
)

// numbers are the lines from one number to another.
func numbers(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

// A read without a limit is one page, 2,000 lines or 40 KiB, with the offset of the next. All pages together are the
// whole file.
func TestReadPages(t *testing.T) {
	b, fsys := agentkit.Box(t, nil)
	wide := strings.Repeat("x", 15_000) + "\n"
	for name, text := range map[string]string{
		"short lines":        numbers(1, 5000),
		"wide lines":         strings.Repeat(wide, 7),
		"no break at end":    numbers(1, 3000) + "end",
		"a long first line":  strings.Repeat("y", 50_000) + "\n" + numbers(1, 10),
		"a long last line":   numbers(1, 10) + strings.Repeat("y", 50_000),
		"a long line inside": wide + strings.Repeat("y", 50_000) + "\n" + wide + wide + wide,
		"one page":           numbers(1, 2000),
		"nothing":            "",
	} {
		t.Run(name, func(t *testing.T) {
			vfstest.Write(t, fsys, "f", text)
			whole, offset, pages := "", 1.0, 0
			for {
				r := agentkit.Call(t, b, "workspace_read_file", agentkit.Args{"path": "/f", "offset": offset})
				require.Nil(t, r["omittedBytes"])
				part := r["text"].(string)
				require.True(t, len(part) <= 40<<10 || strings.Count(part, "\n") <= 1, "%d bytes", len(part))
				require.LessOrEqual(t, strings.Count(part, "\n"), 2000)
				whole += part
				if pages++; r["nextOffset"] == nil {
					break
				}
				require.Greater(t, r["nextOffset"], offset)
				offset = r["nextOffset"].(float64)
				require.Contains(t, agentkit.Try(t, b, "workspace_read_file", agentkit.Args{"path": "/f", "offset": r["startLine"]}).Text, fmt.Sprintf("; read on with offset %v; sum ", offset))
			}
			require.Equal(t, text, whole)
			require.Less(t, pages, 8)
		})
	}
	vfstest.Write(t, fsys, "f", numbers(1, 5000))
	require.Equal(t, 5000.0, agentkit.Call(t, b, "workspace_read_file", agentkit.Args{"path": "/f", "limit": 9999})["endLine"], "a limit may be larger")
}

// A read that the cap cuts reports how much of the file is left, and the next read goes on where it was cut, so no
// line is lost.
func TestReadGoesOnBehindTheCap(t *testing.T) {
	text := numbers(1, 5000)
	for _, in := range []agentkit.Args{{}, {"limit": 4000}, {"limit": 4000, "numbered": true}, {"numbered": true}} {
		b, fsys := agentkit.Box(t, &tool.Config{Caps: policy.Caps{ResultBytes: 3000}})
		vfstest.Write(t, fsys, "f", text)
		in["path"] = "/f"
		r := agentkit.Call(t, b, "workspace_read_file", in)
		shown, _, cut := strings.Cut(r["text"].(string), "\n[... truncated, ")
		require.True(t, cut)
		require.Len(t, shown, 3000)
		lines := strings.Split(shown, "\n")
		next := fmt.Sprint(len(lines)) // the last of them is cut
		require.Equal(t, next, fmt.Sprint(r["nextOffset"]), in)
		require.Contains(t, strings.TrimSpace(lines[len(lines)-2]), fmt.Sprint(len(lines)-1))
		if in["numbered"] == nil {
			all := text
			if in["limit"] != nil {
				all = numbers(1, 4000)
			}
			require.EqualValues(t, len(all)-3000, r["omittedBytes"], in)
		}
	}

	// So it is if one line alone is above the cap.
	b, fsys := agentkit.Box(t, nil)
	vfstest.Write(t, fsys, "f", strings.Repeat("x", 300_000)+"\nsecond\n")
	r := agentkit.Call(t, b, "workspace_read_file", agentkit.Args{"path": "/f"})
	require.EqualValues(t, 300_008-256<<10, r["omittedBytes"])
	require.EqualValues(t, 2, r["nextOffset"])
}

// A tail that is beyond the cap keeps the newest lines.
func TestTailKeepsTheNewest(t *testing.T) {
	b, fsys := agentkit.Box(t, nil)
	vfstest.Write(t, fsys, "log", numbers(1, 100_000))
	r := agentkit.Call(t, b, "workspace_read_file", agentkit.Args{"path": "/log", "tail": 60_000})
	text := r["text"].(string)
	require.True(t, strings.HasSuffix(text, "\n99999\n100000\n"))
	require.Equal(t, 100_000.0, r["endLine"])
	note, lines, _ := strings.Cut(text, "\n")
	require.Equal(t, fmt.Sprintf("[... truncated, %.0f bytes omitted; refine your search/path]", r["omittedBytes"]), note)
	require.Len(t, lines, 256<<10)
	require.Equal(t, float64(len(numbers(40_001, 100_000))), r["omittedBytes"].(float64)+float64(len(lines)))
	first, _, _ := strings.Cut(lines, "\n")
	require.True(t, strings.HasSuffix(fmt.Sprint(r["startLine"]), first), "%v is where %q is", r["startLine"], first)
}

// An edit shows at most ten places, however much it changed, and counts the others.
func TestPreviewIsBounded(t *testing.T) {
	b, fsys := agentkit.Box(t, nil)
	vfstest.Write(t, fsys, "many", strings.Repeat("old\n", 200_000))
	r := agentkit.Call(t, b, "workspace_edit_file", agentkit.Args{"path": "/many", "oldText": "old", "newText": "new", "all": true})
	require.Equal(t, 200_000.0, r["replacements"])
	require.Less(t, len(r["preview"].(string)), 1000)
	require.Contains(t, r["preview"], "   ... 199960 more lines")

	text := strings.ReplaceAll(numbers(1, 250), "0\n", "0 old\n")
	vfstest.Write(t, fsys, "places", text)
	for _, diff := range []bool{true, false} {
		r = agentkit.Call(t, b, "workspace_edit_file", agentkit.Args{"path": "/places", "oldText": "old", "newText": "new", "all": true, "diff": diff, "dryRun": true})
		require.Equal(t, 15.0, r["moreChanges"])
		require.Contains(t, r["preview"], "100 new")
		require.NotContains(t, r["preview"], "110 new")
	}
	require.Contains(t, agentkit.Try(t, b, "workspace_edit_file", agentkit.Args{"path": "/places", "oldText": "old", "newText": "new", "all": true}).Text,
		"25 replacements, 15 more changed places than are shown; sum ")

	vfstest.Write(t, fsys, "wide", strings.Repeat("x", 1<<20)+"old")
	require.Less(t, len(agentkit.Try(t, b, "workspace_edit_file", agentkit.Args{"path": "/wide", "oldText": "old", "newText": "new"}).Text), 5000)
}
