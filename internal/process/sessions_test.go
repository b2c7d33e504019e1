package process

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// sessionsEnv makes the test binary a process that goes on with the session of the ref that it holds, in the store of
// childEnv's path, and prints the ref of a snapshot.
const sessionsEnv = "VFS_SESSION_REF"

// A session is handed on from process to process by its ref alone. Each one adds a line; the last one takes
// the work of two others back.
func TestSessionAcrossProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	store := agent.NewStore(path, &vfs.Options{Relaxed: true})
	s, err := agent.Open(store, "relay", &agent.SessionOptions{Auto: agent.EachCall})
	require.NoError(t, err)
	require.NoError(t, addLine(t.Context(), s, "first"))
	ref, err := s.Ref(t.Context())
	require.NoError(t, err)

	var pinned []string
	for id := range 3 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+path, sessionsEnv+"="+ref.String(), childID+"="+strconv.Itoa(id))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		pinned = append(pinned, strings.TrimSpace(string(out)))
	}
	read := func(s *agent.Session) string {
		box, err := s.Toolbox(t.Context())
		require.NoError(t, err)
		return vfstest.Read(t, box.FS(), "log")
	}
	require.Equal(t, "first\nprocess 0\nprocess 1\nprocess 2\n", read(s), "what others wrote is seen at once")
	_, err = s.Undo(t.Context(), 2)
	require.NoError(t, err)
	require.Equal(t, "first\nprocess 0\n", read(s))
	require.NoError(t, s.Close(t.Context()))

	// A ref with a snapshot is the session as it was in that process.
	for id, ref := range pinned {
		s, err := agent.Resume(store, ref, nil)
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(read(s), fmt.Sprintf("process %d\n", id)))
		require.NoError(t, s.Close(t.Context()))
	}
	vfstest.Open(t, path, nil) // is checked at the end

	fsys, err := vfs.Open(t.Context(), path, nil)
	require.NoError(t, err)
	defer fsys.Close()
	calls, err := fsys.Store().Calls(t.Context(), &vfs.CallOptions{Session: "relay"})
	require.NoError(t, err)
	appends := 0
	for _, c := range calls {
		if c.Tool == "workspace_append_file" {
			appends++
		}
	}
	require.Equal(t, 4, appends, "the log has the calls of all processes")
}

func addLine(ctx context.Context, s *agent.Session, line string) error {
	input, err := json.Marshal(map[string]string{"path": "/log", "content": line + "\n"})
	if err != nil {
		return err
	}
	return s.Call(ctx, "workspace_append_file", input).Err
}

// goOn is what a process of this test does.
func goOn(path, id string) error {
	ctx := context.Background()
	store := agent.NewStore(path, &vfs.Options{Relaxed: true, MustExist: true})
	s, err := agent.Resume(store, os.Getenv(sessionsEnv), &agent.SessionOptions{Auto: agent.EachCall})
	if err != nil {
		return err
	}
	if err := addLine(ctx, s, "process "+id); err != nil {
		return err
	}
	pinned, err := s.Snapshot(ctx, "by-"+id, "")
	if err != nil {
		return err
	}
	fmt.Println(pinned)
	return s.Close(ctx)
}
