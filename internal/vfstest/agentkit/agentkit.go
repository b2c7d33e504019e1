package agentkit

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/profile"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// Put writes a file of a test.
func Put(t *testing.T, fsys *vfs.FS, name, content string) {
	t.Helper()
	require.NoError(t, fsys.WriteFile(t.Context(), name, []byte(content), 0o644, vfs.Parents()))
}

// Says runs a tool that has to succeed, and compares its text for the model byte for byte.
func Says(t *testing.T, b *tool.Toolbox, op string, in Args, want string) {
	t.Helper()
	r := Try(t, b, op, in)
	require.NoError(t, r.Err, r.Text)
	require.Equal(t, want, r.Text)
}

// Refuses runs a tool that has to fail, and compares its text for the model byte for byte.
func Refuses(t *testing.T, b *tool.Toolbox, op string, in Args, errno error, want string) {
	t.Helper()
	r := Try(t, b, op, in)
	require.ErrorIs(t, r.Err, errno, r.Text)
	require.Equal(t, want, r.Text)
}

// Epoch is the time of all files in a golden file.
var Epoch = time.Date(2024, 3, 9, 0, 0, 0, 0, time.UTC)

// Plant makes a tree for a golden test: files by name, directories by a name with a slash at its end, symlinks by a
// content that begins with "->". All times in it are [Epoch].
func Plant(t *testing.T, fsys *vfs.FS, files map[string]string) {
	t.Helper()
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for name, content := range files {
			target, link := strings.CutPrefix(content, "->")

			var err error
			switch {
			case strings.HasSuffix(name, "/"):
				err = tx.MkdirAll(name, 0o755)
			case link:
				if i := strings.LastIndexByte(name, '/'); i > 0 {
					if err := tx.MkdirAll(name[:i], 0o755); err != nil {
						return err
					}
				}
				err = tx.Symlink(target, name)
			default:
				err = tx.WriteFile(name, []byte(content), 0o644, vfs.Parents())
			}
			if err != nil {
				return err
			}
		}
		return nil
	}))
	Still(t, fsys)
}

// Still sets all times of a tree to [Epoch].
func Still(t *testing.T, fsys *vfs.FS) {
	t.Helper()
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for _, name := range append(vfstest.Names(t, fsys), ".") {
			if err := tx.Lchtimes(name, Epoch, Epoch); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Box makes the tools of a config over a fresh store with some files.
func Box(t *testing.T, config *tool.Config, files ...string) (*tool.Toolbox, *vfs.FS) {
	t.Helper()
	fsys := vfstest.New(t, files...)
	b, err := agent.New(fsys, config)
	require.NoError(t, err)
	return b, fsys
}

// Call runs a tool of helix that has to succeed, and returns its structured result as JSON has it.
func Call(t *testing.T, b *tool.Toolbox, op string, args map[string]any) map[string]any {
	t.Helper()
	r := Try(t, b, op, args)
	require.NoError(t, r.Err, r.Text)
	data, err := json.Marshal(r.Data)
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}

// Named finds a profile.
func Named(t *testing.T, name string) *tool.Profile {
	t.Helper()
	p, err := profile.Find(name)
	require.NoError(t, err)
	return p
}

// Try runs a tool.
func Try(t *testing.T, b *tool.Toolbox, op string, args map[string]any) *tool.Result {
	t.Helper()
	input, err := json.Marshal(args)
	require.NoError(t, err)
	return b.Call(t.Context(), op, input)
}

// Args are the arguments of a call.
type Args = map[string]any
