package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// groupEnv makes the test binary a child that writes single verbs, see writeSingles.
const groupEnv = "VFS_PROCESS_GROUP"

const (
	crowd   = 64
	singles = 12 // of each
)

// 64 goroutines write single verbs, which share commits. Some are refused, some cancelled, one takes its transaction
// with it; meanwhile there are Updates, streams, snapshots and collections, and a second process does the same.
// Acknowledged writes are there, failed ones have left nothing, and the log has exactly these changes, each in its own
// call.
func TestGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shared.db")
	fsys := vfstest.Open(t, path, nil)
	require.NoError(t, fsys.Mkdir(t.Context(), "taken", 0o755))
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path, childID+"=1", groupEnv+"=1")
	out := new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())

	done := make(chan struct{})
	var others sync.WaitGroup
	for name, run := range map[string]func(round int) error{
		"update": func(round int) error {
			return fsys.Update(t.Context(), func(tx *vfs.Tx) error {
				if err := tx.Append("updates", []byte("x"), 0o644); err != nil {
					return err
				}
				return tx.Append("updates", []byte("y"), 0o644)
			})
		},
		"stream": func(round int) error {
			_, err := fsys.WriteFrom(t.Context(), "stream", bytes.NewReader(content(0, 0, round)), 0o644)
			return err
		},
		"snapshot": func(round int) error {
			name := fmt.Sprint("s", round)
			if _, err := snapshot.Create(t.Context(), fsys, name, nil); err != nil {
				return err
			}
			return snapshot.Delete(t.Context(), fsys, name)
		},
		"gc": func(int) error {
			if _, err := gc.Run(t.Context(), fsys, nil); err != nil && !busy(err) {
				return err
			}
			return nil
		},
		"lost": func(int) error { // as when the disk is full
			err := (*tree.Tree)(fsys).DB().Join(t.Context(), 0, func(db *schema.Tx) error {
				_, err := db.Exec(`ROLLBACK`)
				return errors.Join(err, syscall.ENOSPC)
			})
			if !errors.Is(err, syscall.ENOSPC) {
				return fmt.Errorf("a lost transaction: %w", err)
			}
			return nil
		},
	} {
		others.Go(func() {
			for round := 0; ; round++ {
				if err := run(round); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	err := writeSingles(t.Context(), fsys, "0")
	childErr := cmd.Wait()
	close(done)
	others.Wait()
	require.NoError(t, err)
	require.NoError(t, childErr, "%s", out)

	updates := vfstest.Read(t, fsys, "updates")
	require.Zero(t, len(bytes.ReplaceAll([]byte(updates), []byte("xy"), nil)), "an Update is not taken apart")
	calls, err := fsys.Store().Calls(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, calls, 2*crowd, "one row for each call that changed something")
	for _, c := range calls {
		require.EqualValues(t, 1+3*singles, c.Changes, "%s %s", c.Actor, c.Tool)
	}
	events, err := fsys.Log(t.Context(), nil)
	require.NoError(t, err)
	for i, e := range events {
		require.Equal(t, events[0].Seq+int64(i), e.Seq, "no gap")
		var actor, op string
		if n, _ := fmt.Sscanf(e.Path, "g-%1s-%2s/", &actor, &op); n == 2 && e.Op != "chmod" { // of cancelled
			require.Equal(t, actor+" "+op, e.Actor+" "+e.Tool, "%s", e.Path)
		}
	}
}

// groupChild is writeSingles as a process of its own.
func groupChild(path, id string) error {
	ctx := context.Background()
	fsys, err := vfs.Open(ctx, path, &vfs.Options{MustExist: true})
	if err != nil {
		return err
	}
	return errors.Join(writeSingles(ctx, fsys, id), fsys.Close())
}

// writeSingles has a crowd write, each member in a directory and under a call of its own.
func writeSingles(ctx context.Context, fsys *vfs.FS, id string) error {
	errs := make([]error, crowd)
	var wg sync.WaitGroup
	for g := range crowd {
		wg.Go(func() {
			op := fmt.Sprintf("%02d", g)
			called := vfs.WithCall(ctx, &vfs.Call{Actor: id, Tool: op})
			errs[g] = writeMember(called, fsys, fmt.Sprintf("g-%s-%s", id, op))
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func writeMember(ctx context.Context, fsys *vfs.FS, dir string) error {
	if err := fsys.Mkdir(ctx, dir, 0o755); err != nil {
		return err
	}
	log := dir + "/log"
	for round := range singles {
		name := fmt.Sprintf("%s/f%d", dir, round)
		data := bytes.Repeat([]byte(name), 50)
		if err := fsys.WriteFile(ctx, name, data, 0o644, vfs.IfAbsent()); err != nil {
			return err
		}
		for _, refused := range []struct {
			err, want error
		}{
			{fsys.WriteFile(ctx, name, nil, 0o644, vfs.IfAbsent()), fs.ErrExist},
			{fsys.WriteFile(ctx, name, nil, 0o644, vfs.IfSum(vfs.SumOf([]byte("stale")))), syscall.ESTALE},
			{fsys.Rename(ctx, name, dir+"/made/on/the/way", vfs.Parents(), vfs.IfSum(vfs.SumOf(nil))), syscall.ESTALE},
			{fsys.Mkdir(ctx, "taken", 0o755), fs.ErrExist},
			{cancelled(ctx, fsys, name), context.Canceled},
		} {
			if !errors.Is(refused.err, refused.want) {
				return fmt.Errorf("%s: %w, not %w", name, refused.err, refused.want)
			}
		}
		if err := fsys.Append(ctx, log, fmt.Appendf(nil, "%d\n", round), 0o644); err != nil {
			return err
		}
		if err := fsys.Rename(ctx, name, name+".done"); err != nil {
			return err
		}
		// An acknowledged write is seen at once, and a refused one has left nothing.
		if got, err := fsys.ReadFile(ctx, name+".done"); err != nil || !bytes.Equal(got, data) {
			return fmt.Errorf("read back %s: %q, %w", name, got, err)
		}
		entries, err := fsys.ReadDir(ctx, dir)
		if err != nil || len(entries) != round+2 {
			return fmt.Errorf("%s holds %d entries in round %d: %w", dir, len(entries), round, err)
		}
	}
	want := ""
	for round := range singles {
		want += fmt.Sprintln(round)
	}
	if got, err := fsys.ReadFile(ctx, log); err != nil || string(got) != want {
		return fmt.Errorf("%s: %q, %w", log, got, err)
	}
	return nil
}

// cancelled changes a file under a context that ends meanwhile, into what it was: it may have begun before.
func cancelled(ctx context.Context, fsys *vfs.FS, name string) error {
	gone, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go cancel()
	err := fsys.Chmod(vfs.WithCall(gone, nil), name, 0o644)
	if err == nil {
		return context.Canceled
	}
	return err
}
