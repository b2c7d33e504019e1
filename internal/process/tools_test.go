package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// toolsEnv makes the test binary a process with two agents, who edit the file at the path that it holds.
const (
	toolsEnv   = "VFS_TOOLS_CHILD"
	toolsEdits = "VFS_TOOLS_EDITS"
)

// Two agents in each of four processes edit one file through the tools: each reads it, and writes what it read with its
// own line changed, under the sum that it read. A stale sum is refused and tried again, so no edit is lost.
func TestToolsLoseNoEdit(t *testing.T) {
	const agents = 2
	edits := 1000
	if testing.Short() {
		edits = 50
	}
	path := filepath.Join(t.TempDir(), "tools.db")
	fsys := vfstest.Open(t, path, &vfs.Options{Relaxed: true})
	var start strings.Builder
	for id := range processes * agents {
		fmt.Fprintf(&start, "agent %d: 0\n", id)
	}
	vfstest.Write(t, fsys, "board.md", start.String()+"total: 0\n")

	var wg sync.WaitGroup
	for p := range processes {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), toolsEnv+"="+path, childID+"="+strconv.Itoa(p*agents), toolsEdits+"="+strconv.Itoa(edits))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("process %d: %v\n%s", p, err, out)
			}
		})
	}
	wg.Wait()
	var want strings.Builder
	for id := range processes * agents {
		fmt.Fprintf(&want, "agent %d: %d\n", id, edits)
	}
	fmt.Fprintf(&want, "total: %d\n", processes*agents*edits)
	require.Equal(t, want.String(), vfstest.Read(t, fsys, "board.md"))
}

// editors runs the two agents of one process.
func editors(path string) error {
	first, err := strconv.Atoi(os.Getenv(childID))
	if err != nil {
		return err
	}
	edits, err := strconv.Atoi(os.Getenv(toolsEdits))
	if err != nil {
		return err
	}
	ctx := context.Background()
	fsys, err := vfs.Open(ctx, path, &vfs.Options{Relaxed: true, MustExist: true})
	if err != nil {
		return err
	}
	errs := make([]error, 2)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = editor(ctx, fsys, first+i, edits) })
	}
	wg.Wait()
	return errors.Join(append(errs, fsys.Close())...)
}

func editor(ctx context.Context, fsys *vfs.FS, id, edits int) error {
	box, err := agent.New(fsys, &tool.Config{Session: strconv.Itoa(id)})
	if err != nil {
		return err
	}
	for done := 0; done < edits; {
		read := box.Call(ctx, "workspace_read_file", []byte(`{"path":"/board.md"}`))
		if read.Err != nil {
			return read.Err
		}
		seen, err := json.Marshal(read.Data)
		if err != nil {
			return err
		}
		var file struct{ Text, Sum string }
		if err := json.Unmarshal(seen, &file); err != nil {
			return err
		}
		_, after, found := strings.Cut(file.Text, "total: ")
		var total int
		if _, err := fmt.Sscan(after, &total); err != nil || !found {
			return fmt.Errorf("no total in %q: %w", file.Text, err)
		}
		input, err := json.Marshal(map[string]any{
			"path": "/board.md", "ifSum": file.Sum,
			"edits": []map[string]string{
				{"oldText": fmt.Sprintf("agent %d: %d\n", id, done), "newText": fmt.Sprintf("agent %d: %d\n", id, done+1)},
				{"oldText": fmt.Sprintf("total: %d\n", total), "newText": fmt.Sprintf("total: %d\n", total+1)},
			},
		})
		if err != nil {
			return err
		}
		switch edited := box.Call(ctx, "workspace_edit_file", input); {
		case edited.Err == nil:
			done++
		case !errors.Is(edited.Err, syscall.ESTALE):
			return edited.Err
		}
	}
	return nil
}
