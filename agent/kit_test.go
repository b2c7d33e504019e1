package agent_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/vfs"
)

func TestMain(m *testing.M) { vfstest.Main(m) }

// newStore names a database in a directory of the test. At its end the file is checked, if there is one.
func newStore(t *testing.T) *agent.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.db")
	t.Cleanup(func() {
		if _, err := os.Stat(path); err == nil {
			checkFile(t, path)
		}
	})
	return agent.NewStore(path, &vfs.Options{Relaxed: true})
}

func checkFile(t *testing.T, path string) {
	t.Helper()
	fsys, err := vfs.Open(context.WithoutCancel(t.Context()), path, &vfs.Options{MustExist: true})
	require.NoError(t, err)
	vfstest.Check(t, fsys)
	require.NoError(t, fsys.Close())
}

// openSession begins a session that is closed at the end of the test.
func openSession(t *testing.T, store *agent.Store, name string, o *agent.SessionOptions) *agent.Session {
	t.Helper()
	s, err := agent.Open(store, name, o)
	require.NoError(t, err)
	closes(t, s)
	return s
}

func closes(t *testing.T, s *agent.Session) {
	t.Cleanup(func() { require.NoError(t, s.Close(context.WithoutCancel(t.Context()))) })
}

func runs(t *testing.T, s *agent.Session, op string, args map[string]any) *tool.Result {
	t.Helper()
	input, err := json.Marshal(args)
	require.NoError(t, err)
	return s.Call(t.Context(), "workspace_"+op, input)
}

func writes(t *testing.T, s *agent.Session, path, content string) {
	t.Helper()
	r := runs(t, s, "write_file", agentkit.Args{"path": path, "content": content})
	require.NoError(t, r.Err, r.Text)
}

func holds(t *testing.T, s *agent.Session, path string) string {
	t.Helper()
	box, err := s.Toolbox(t.Context())
	require.NoError(t, err)
	return vfstest.Read(t, box.FS(), strings.TrimPrefix(path, "/"))
}

func refOf(t *testing.T, s *agent.Session) tool.Ref {
	t.Helper()
	r, err := s.Ref(t.Context())
	require.NoError(t, err)
	return r
}
