package profile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/vfs"
	"vfsdb/vfstest"
)

// The inputs and outputs of a reference's tools are written down in testdata/reference: an archive for each profile,
// with a config, the files of a tree, and calls. A call is a rule in words, a tool with its arguments as JSON, an
// errno if it fails, the text for the model, behind bars, and the structured result if that differs. The calls are
// made in their order on one tree. Lines that begin with "link" and "dir" make symlinks and directories, for which an
// archive has no place.
//
// The expected texts come from the references and were compared with them. Compare the changes of -vfstest.update,
// too.
func TestReferences(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "reference", "*.txtar"))
	require.NoError(t, err)
	require.Len(t, files, 4)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			archive := txtar.Parse(data)
			b := boxOf(t, archive)
			for i, f := range archive.Files {
				if f.Name == "calls" {
					archive.Files[i].Data = []byte(called(t, b, string(f.Data)))
				}
			}
			vfstest.Golden(t, file, string(txtar.Format(archive)))
		})
	}
}

// boxOf makes the tools of an archive's config over a store with its files.
func boxOf(t *testing.T, archive *txtar.Archive) *tool.Toolbox {
	t.Helper()
	files, config := map[string]string{}, []byte(nil)
	for _, f := range archive.Files {
		switch f.Name {
		case "config.yaml":
			config = f.Data
		case "calls":
		default:
			files[f.Name] = string(f.Data)
		}
	}
	c, err := agent.ParseConfig(config, nil)
	require.NoError(t, err)
	fsys := vfstest.FromMap(t, files)
	agentkit.Still(t, fsys)
	b, err := agent.New(fsys, c)
	require.NoError(t, err)
	return b
}

// called makes the calls of a script, and returns it with what they gave.
func called(t *testing.T, b *tool.Toolbox, script string) string {
	t.Helper()
	var out strings.Builder
	ruled := false // there is a rule above the call
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(line, "|"), strings.HasPrefix(line, "! "), strings.HasPrefix(line, "= "):
			continue // a result of an earlier run
		case line == "", word == "#":
			ruled = ruled || word == "#"
			out.WriteString(line + "\n")
			continue
		case word == "link":
			name, target, _ := strings.Cut(rest, " ")
			require.NoError(t, b.FS().Symlink(t.Context(), target, name))
			out.WriteString(line + "\n")
			continue
		case word == "dir":
			require.NoError(t, b.FS().MkdirAll(t.Context(), rest, 0o755))
			out.WriteString(line + "\n")
			continue
		}
		require.True(t, ruled, "no rule stands above: %s", line)
		ruled = false
		r := b.Call(t.Context(), word, []byte(rest))
		agentkit.Conforms(t, b.Tool(word), r)
		out.WriteString(line + "\n" + gave(t, r))
	}
	return out.String()
}

// gave is what a call gave, without what differs from run to run.
func gave(t *testing.T, r *tool.Result) string {
	t.Helper()
	text := ""
	if r.Err != nil {
		errno, ok := vfs.Errno(r.Err)
		require.True(t, ok, "%v carries no errno", r.Err)
		text = fmt.Sprintf("! %v\n", errno)
	}
	said := settle(strings.TrimSuffix(r.Text, "\n"))
	for line := range strings.SplitSeq(said, "\n") {
		text += strings.TrimRight("| "+strings.ReplaceAll(line, "\r", `\r`), " ") + "\n"
	}
	for _, m := range r.Media {
		text += fmt.Sprintf("| (%s, %d bytes)\n", m.MIMEType, len(m.Data))
	}
	if data, err := json.Marshal(r.Data); r.Data != nil && !strings.Contains(said, settle(string(data))) {
		require.NoError(t, err)
		text += "= " + settle(string(data)) + "\n"
	}
	return text
}

// settle replaces what differs from run to run: times, ids of databases, and names that are made up.
func settle(text string) string {
	text = atTime.ReplaceAllString(text, "$1<$2>")
	text = anyDatabase.ReplaceAllString(text, "vfs://<id>/")
	return madeUp.ReplaceAllString(text, "$1<time>")
}

var (
	atTime      = regexp.MustCompile(`("(created|modified|mtime)":)("[^"]*"|[0-9.]+)`)
	anyDatabase = regexp.MustCompile(`vfs://[0-9a-f]{32}/`)
	madeUp      = regexp.MustCompile(`(undo-)[0-9]+-[0-9]+-[0-9a-f]+`)
)
