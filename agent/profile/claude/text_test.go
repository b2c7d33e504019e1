package claude

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/tool"
	"vfsdb/agent/tool/texts"
)

// FuzzReplace compares replacing in a text of any line breaks with replacing in it with plain ones, and takes it back.
func FuzzReplace(f *testing.F) {
	f.Add("a\r\nb\nc", "a\nb", "x\ny")
	f.Add("a\r\r\n\n", "\r\n", "")
	f.Add("aaa", "aa", "b")
	f.Fuzz(func(t *testing.T, text, old, with string) {
		spots := texts.Occurrences(text, old)
		at := 0
		for _, s := range spots {
			require.LessOrEqual(t, at, s.Start)
			require.Less(t, s.Start, s.End)
			require.Equal(t, texts.UnixBreaks(old), texts.UnixBreaks(text[s.Start:s.End]))
			at = s.End
		}
		require.LessOrEqual(t, at, len(text))
		after, err := tool.Replace(text, spots, with)
		require.NoError(t, err)
		if !strings.Contains(text+old+with, "\r") {
			want := text
			if old != "" {
				want = strings.ReplaceAll(text, old, with)
			}
			require.Equal(t, want, after)
		}
		require.Equal(t, text, undoStepOf("f", "", text, after).back(after))
		for line := -1; line < 4; line++ {
			longer, ok := insertAfter(text, line, with)
			if ok {
				require.GreaterOrEqual(t, len(longer), len(text)+len(with))
				require.Equal(t, text, undoStepOf("f", "", text, longer).back(longer))
			}
		}
	})
}

func TestUndoLogBounds(t *testing.T) {
	var l undoLog
	for range maxUndoSteps + 5 {
		l.push(&undoStep{path: "a"})
	}
	require.Len(t, l.steps, maxUndoSteps)
	big := &undoStep{path: "big", removed: strings.Repeat("x", maxUndoBytes)}
	l.push(big)
	require.Equal(t, maxUndoBytes, l.bytes)
	require.Nil(t, l.last("b"))
	require.Same(t, big, l.last("big"))
	l.push(&undoStep{path: "a", removed: "x"})
	require.Nil(t, l.last("big"))
	l.drop(l.last("a"))
	require.Zero(t, l.bytes)
}

func TestHumanSize(t *testing.T) {
	for size, want := range map[int64]string{
		0: "0B", 1: "1B", 1023: "1023B", 1024: "1K", 1536: "1.5K", 2076: "2.0K", 1 << 20: "1M", 5 << 30: "5G", 3 << 40: "3072G",
	} {
		require.Equal(t, want, humanSize(size))
	}
}
