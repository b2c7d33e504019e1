package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// childHolds makes a child one that has the store open and does what it reads: "write NAME", "names" or "close". It
// answers each line by one.
const childHolds = "VFS_PROCESS_HOLDS"

func holdingChild(path, _ string) error {
	ctx := context.Background()
	fsys, err := vfs.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	fmt.Println("open")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		verb, name, _ := strings.Cut(in.Text(), " ")
		switch verb {
		case "write":
			fmt.Println(outcome(fsys.WriteFile(ctx, name, []byte(name), 0o644)))
		case "names":
			names, err := fsys.ReadDir(ctx, ".")
			if err != nil {
				return err
			}
			for _, e := range names {
				fmt.Print(e.Name(), " ")
			}
			fmt.Println()
		case "close":
			fmt.Println(outcome(fsys.Close()))
		}
	}
	return fsys.Close()
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, syscall.ESTALE):
		return "ESTALE"
	}
	return err.Error()
}

// A holder is another process that has a store open.
type holder struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

func startHolder(t *testing.T, path string) *holder {
	cmd := exec.Command(os.Args[0]) // which ends with its input
	cmd.Env = append(os.Environ(), childEnv+"="+path, childHolds+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	h := &holder{t, in, bufio.NewReader(out)}
	t.Cleanup(func() {
		in.Close()
		_, _ = io.Copy(io.Discard, h.out)
		require.NoError(t, cmd.Wait())
	})
	require.Equal(t, "open", h.answer())
	return h
}

func (h *holder) answer() string {
	line, err := h.out.ReadString('\n')
	require.NoError(h.t, err)
	return strings.TrimSpace(line)
}

func (h *holder) does(line string) string {
	_, err := fmt.Fprintln(h.in, line)
	require.NoError(h.t, err)
	return h.answer()
}

// A file that another process has open is opened together with its log, or not at all. A file that has left its place
// or has lost its log takes no more commits. After it is closed it has exactly the acknowledged writes.
func TestReplacedUnderAnother(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files that are open cannot be renamed or removed here")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	path := at("x.db")
	holds := func(t *testing.T, path string, want ...string) {
		fsys, err := vfs.Open(t.Context(), path, &vfs.Options{MustExist: true})
		require.NoError(t, err)
		vfstest.Check(t, fsys)
		require.Equal(t, want, vfstest.Names(t, fsys))
		require.NoError(t, fsys.Close())
	}
	refused := func(t *testing.T, path string, want error) {
		t.Helper()
		fsys, err := vfs.Open(t.Context(), path, nil)
		if err == nil {
			fsys.Close()
		}
		require.ErrorIs(t, err, want)
	}
	begin := func(t *testing.T) *holder {
		for _, name := range []string{"x.db", "other.db", "away.db", "second.db"} {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				if err := os.Remove(at(name + suffix)); err != nil {
					require.ErrorIs(t, err, fs.ErrNotExist)
				}
			}
		}
		other, err := vfs.Open(t.Context(), at("other.db"), nil)
		require.NoError(t, err)
		vfstest.Write(t, other, "other", "other")
		require.NoError(t, other.Close())
		h := startHolder(t, path)
		require.Equal(t, "ok", h.does("write first"))
		require.Equal(t, "first", h.does("names"))
		return h
	}

	t.Run("replaced", func(t *testing.T) {
		h := begin(t)
		require.NoError(t, os.Link(path, at("away.db"))) // to look at it later
		require.NoError(t, os.Rename(at("other.db"), path))
		refused(t, path, syscall.EBUSY)
		require.Equal(t, "ESTALE", h.does("write second"))
		require.Equal(t, "first", h.does("names"))
		require.Equal(t, "ok", h.does("close"))
		holds(t, path, "other")
		holds(t, at("away.db"), "first")
	})
	t.Run("replaced by another open one", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("logs are tied to their files on Linux only")
		}
		h, o := begin(t), startHolder(t, at("other.db"))
		require.Equal(t, "ok", o.does("write other second"))
		require.NoError(t, os.Rename(at("other.db"), path))
		refused(t, path, syscall.EBUSY)
		require.Equal(t, "ESTALE", h.does("write second"))
		require.Equal(t, "ESTALE", o.does("write third"))
		require.Equal(t, "ok", h.does("close"))
		require.Equal(t, "ok", o.does("close"))
		holds(t, path, "other", "other second")
	})
	t.Run("replaced under two", func(t *testing.T) {
		h := begin(t)
		fsys, err := vfs.Open(t.Context(), path, nil)
		require.NoError(t, err)
		vfstest.Write(t, fsys, "ours", "ours")
		require.NoError(t, os.Link(path, at("away.db")))
		require.NoError(t, os.Rename(at("other.db"), path))
		require.ErrorIs(t, fsys.WriteFile(t.Context(), "second", nil, 0o644), syscall.ESTALE)
		require.NoError(t, fsys.Close())

		// The first close removes the log of the old file, so the new one can be opened.
		fsys, err = vfs.Open(t.Context(), path, nil)
		require.NoError(t, err)
		vfstest.Write(t, fsys, "new", "new")
		require.Equal(t, "ESTALE", h.does("write second"))
		require.Equal(t, "ok", h.does("close"))
		vfstest.Write(t, fsys, "newer", "newer")
		require.NoError(t, fsys.Close())
		holds(t, path, "new", "newer", "other")
		holds(t, at("away.db"), "first", "ours")
	})
	t.Run("moved away", func(t *testing.T) {
		h := begin(t)
		require.NoError(t, os.Rename(path, at("away.db")))
		refused(t, path, syscall.EBUSY)
		require.NoFileExists(t, path)
		refused(t, at("away.db"), syscall.EBUSY)
		require.NoFileExists(t, at("away.db-wal"))
		require.Equal(t, "ESTALE", h.does("write second"))
		require.Equal(t, "ok", h.does("close"))
		holds(t, at("away.db"), "first")
		fsys, err := vfs.Open(t.Context(), path, nil)
		require.NoError(t, err)
		require.Empty(t, vfstest.Names(t, fsys))
		require.NoError(t, fsys.Close())
	})
	t.Run("hard link", func(t *testing.T) {
		h := begin(t)
		require.NoError(t, os.Link(path, at("second.db")))
		refused(t, at("second.db"), syscall.EMLINK)
		_, err := vfs.Open(t.Context(), at("second.db"), &vfs.Options{ReadOnly: true})
		require.ErrorIs(t, err, syscall.EBUSY)
		require.Equal(t, "ok", h.does("write second"))
		require.NoError(t, os.Remove(at("second.db")))
		fsys, err := vfs.Open(t.Context(), path, nil)
		require.NoError(t, err)
		vfstest.Write(t, fsys, "third", "third")
		require.Equal(t, "first second third", h.does("names"))
		require.NoError(t, fsys.Close())
	})
	for _, gone := range [][]string{{"-wal"}, {"-wal", "-shm"}} {
		t.Run("removed "+strings.Join(gone, " "), func(t *testing.T) {
			h := begin(t)
			for _, suffix := range gone {
				require.NoError(t, os.Remove(path+suffix))
			}
			refused(t, path, syscall.EBUSY)
			require.Equal(t, "ESTALE", h.does("write second"))
			require.Equal(t, "ok", h.does("close"))
			holds(t, path, "first")
		})
	}
	t.Run("removed", func(t *testing.T) {
		h := begin(t)
		require.NoError(t, os.Remove(path))
		refused(t, path, syscall.EBUSY)
		require.Equal(t, "ESTALE", h.does("write second"))
		require.Equal(t, "ok", h.does("close"))
		fsys, err := vfs.Open(t.Context(), path, nil)
		require.NoError(t, err)
		require.Empty(t, vfstest.Names(t, fsys))
		require.NoError(t, fsys.Close())
	})
}
