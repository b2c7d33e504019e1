package purge_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/check"
	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/journal"
	"vfsdb/merge"
	"vfsdb/purge"
	"vfsdb/snapshot"
	"vfsdb/undo"
	"vfsdb/vfs"
	"vfsdb/xattr"
)

// open opens the store in a file.
func open(t testing.TB, path string) *vfs.FS {
	t.Helper()
	fsys, err := vfs.Open(t.Context(), path, nil)
	require.NoError(t, err)
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

// sound checks the whole store.
func sound(t testing.TB, path string) {
	t.Helper()
	fsys := open(t, path)
	report, err := check.Run(t.Context(), fsys, nil)
	require.NoError(t, err)
	require.Empty(t, report.Faults)
	_, unfinished, err := purge.Unfinished(t.Context(), fsys)
	require.NoError(t, err)
	require.False(t, unfinished)
	require.NoError(t, fsys.Close())
}

func call(ctx context.Context, n int) context.Context {
	return vfs.WithCall(ctx, &vfs.Call{Actor: "model", Session: "s", Tool: "write", Ref: fmt.Sprint(n)})
}

func write(t testing.TB, fsys *vfs.FS, name string, data []byte) {
	t.Helper()
	require.NoError(t, fsys.WriteFile(t.Context(), name, data, 0o644, vfs.Parents()))
}

// filled makes a store with files that stay, and with dir/key of several versions, names and sizes in many places.
func filled(t testing.TB, path string, s *secret) {
	t.Helper()
	ctx := t.Context()
	fsys, err := vfs.Open(ctx, path, &vfs.Options{Relaxed: true})
	require.NoError(t, err)
	defer fsys.Close()
	other := &secret{rnd: rand.New(rand.NewPCG(1, 1)), word: "a line of what everybody may read"}
	for i := range 60 {
		write(t, fsys, fmt.Sprintf("kept/f%d", i), other.text(200+i*131))
	}
	write(t, fsys, "kept/long", other.noise(3<<20))

	// Versions: short, longer, compressible, long, a change of the long one, and one that grows.
	for i, data := range [][]byte{s.noise(40), s.text(5 << 10), s.noise(5 << 10), s.text(80 << 10), s.noise(3<<20 + 17)} {
		require.NoError(t, fsys.WriteFile(call(ctx, i), "dir/key", data, 0o600, vfs.Parents()))
		if i%2 == 1 {
			vfstest.Snapshot(t, fsys, fmt.Sprint("snap", i))
		}
	}
	f, err := fsys.OpenFile(ctx, "dir/key", os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.WriteAt(s.noise(300), 700_000)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	vfstest.Snapshot(t, fsys, "patched")
	require.NoError(t, fsys.Append(ctx, "dir/key", s.noise(9000), 0o600))
	require.NoError(t, xattr.Set(ctx, fsys, "dir/key", false, "user.note", s.noise(100), 0))

	// Other names, branches, a conflict, and a removal.
	require.NoError(t, fsys.Link(ctx, "dir/key", "dir/hard"))
	require.NoError(t, fsys.Rename(ctx, "dir/key", "moved"))
	fork, err := snapshot.Branch(ctx, fsys, fsys, "try")
	require.NoError(t, err)
	write(t, fork, "dir/hard", s.text(6000))
	write(t, fsys, "dir/hard", s.text(7000))
	_, err = merge.Into(call(ctx, 90), fsys, fork, nil)
	require.NoError(t, err)
	require.NoError(t, fsys.Remove(ctx, "moved"))
	write(t, fsys, "dir/key", s.noise(600)) // a new file under the old name
	write(t, fsys, "after", other.text(900))

	require.NoError(t, fsys.Close())
}

// Nothing of the file is left in the raw file, however it was stored, and everything else is as it was.
func TestPurge(t *testing.T) {
	for _, tt := range []struct {
		name    string
		packed  bool
		prepare func(t *testing.T, fsys *vfs.FS)
	}{
		{"as written", false, func(*testing.T, *vfs.FS) {}},
		{"collected", false, func(t *testing.T, fsys *vfs.FS) {
			_, err := gc.Run(t.Context(), fsys, nil)
			require.NoError(t, err)
		}},
		{"compacted", true, func(t *testing.T, fsys *vfs.FS) {
			_, err := gc.Compact(t.Context(), fsys, nil)
			require.NoError(t, err)
		}},
		{"compacted, then edited and collected", true, func(t *testing.T, fsys *vfs.FS) {
			_, err := gc.Compact(t.Context(), fsys, nil)
			require.NoError(t, err)
			require.NoError(t, snapshot.Delete(t.Context(), fsys, "snap1"))
			_, err = gc.Run(t.Context(), fsys, nil)
			require.NoError(t, err)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			s := newSecret()
			filled(t, path, s)
			fsys := open(t, path)
			tt.prepare(t, fsys)
			kept := keptOf(t, fsys)
			require.Equal(t, tt.packed, s.packed(t, fsys) > 0)
			require.NoError(t, fsys.Close())
			require.NotEmpty(t, s.in(t, path))

			dry, err := purge.Run(t.Context(), path, []string{"dir/key"}, &purge.Options{DryRun: true})
			require.NoError(t, err)
			require.NotEmpty(t, s.in(t, path))

			ctx := vfs.WithCall(t.Context(), &vfs.Call{Actor: "ann", Tool: "purge"})
			report, err := purge.Run(ctx, path, []string{"dir/key"}, &purge.Options{Reason: "a key"})
			require.NoError(t, err)
			require.Equal(t, dry.Files, report.Files)
			require.Len(t, report.Files, 2, "two files had the name")
			require.Positive(t, report.Samples)
			require.Positive(t, report.Searched)
			require.Positive(t, report.Changes)
			require.Empty(t, s.in(t, path))
			sound(t, path)
			require.Empty(t, s.in(t, path))

			// Everything else is as it was, and the names are gone from all trees.
			fsys = open(t, path)
			require.Equal(t, kept, keptOf(t, fsys))
			for _, tree := range trees(t, fsys) {
				for _, name := range []string{"dir/key", "dir/hard", "moved"} {
					_, err := tree.Lstat(t.Context(), name)
					require.ErrorIs(t, err, fs.ErrNotExist)
				}
			}

			// The record says so, and has no sum of it.
			log := vfstest.Log(t, fsys, nil)
			require.Contains(t, strings.Join(log, "\n"), "purge")
			events, err := fsys.Log(t.Context(), nil)
			require.NoError(t, err)
			tombs := 0
			for _, e := range events {
				if e.Op == journal.OpPurge {
					tombs++
					require.Equal(t, "a key", e.Arg)
					require.Equal(t, "ann", e.Actor)
					require.Nil(t, e.Before)
					require.Nil(t, e.After)
				}
				for _, sum := range []*vfs.Sum{e.Before, e.After} {
					for _, p := range s.bytes {
						require.False(t, sum != nil && *sum == vfs.SumOf(p), "%+v", e)
					}
				}
			}
			require.Positive(t, tombs)

			// A purge of what never was, or is no more, changes nothing.
			require.NoError(t, fsys.Close())
			_, err = purge.Run(t.Context(), path, []string{"dir/key"}, nil)
			require.ErrorIs(t, err, fs.ErrNotExist)
			sound(t, path)
		})
	}
}

// trees are the heads and the snapshots.
func trees(t testing.TB, fsys *vfs.FS) (list []*vfs.FS) {
	t.Helper()
	branches, err := fsys.Store().Branches(t.Context())
	require.NoError(t, err)
	for _, b := range branches {
		head, err := fsys.Branch(t.Context(), b.Name)
		require.NoError(t, err)
		list = append(list, head)
	}
	snapshots, err := snapshot.List(t.Context(), fsys)
	require.NoError(t, err)
	for _, info := range snapshots {
		s, err := snapshot.At(t.Context(), fsys, info)
		require.NoError(t, err)
		list = append(list, s.FS)
	}
	return list
}

// keptOf is what all trees have, but for the purged file.
func keptOf(t testing.TB, fsys *vfs.FS) (list []map[string]string) {
	t.Helper()
	for _, tree := range trees(t, fsys) {
		dump := vfstest.Dump(t, tree)
		for _, name := range []string{"dir/key", "dir/hard", "moved"} {
			delete(dump, name)
		}
		list = append(list, dump)
	}
	return list
}

// A branch that shows another file under the name at the fork does not get it back.
func TestShadow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	fsys := open(t, path)
	write(t, fsys, "name", []byte("of main"))
	fork, err := snapshot.Branch(t.Context(), fsys, fsys, "try")
	require.NoError(t, err)
	require.NoError(t, fork.Remove(t.Context(), "name"))
	write(t, fork, "secret", []byte("a secret of the branch"))
	vfstest.Snapshot(t, fork, "before")
	require.NoError(t, fork.Rename(t.Context(), "secret", "name"))
	require.NoError(t, fsys.Close())

	_, err = purge.Run(t.Context(), path, []string{"secret"}, nil)
	require.NoError(t, err)
	sound(t, path)
	fsys = open(t, path)
	_, err = fsys.Stat(t.Context(), "name")
	require.NoError(t, err)
	fork, err = fsys.Branch(t.Context(), "try")
	require.NoError(t, err)
	_, err = fork.Stat(t.Context(), "name")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// Directories need Recursive, which takes all files that were ever in them.
func TestRecursive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := newSecret()
	fsys := open(t, path)
	write(t, fsys, "keys/a", s.noise(100))
	write(t, fsys, "keys/sub/b", s.noise(100))
	write(t, fsys, "kept", []byte("kept"))
	vfstest.Snapshot(t, fsys, "before")
	require.NoError(t, fsys.Remove(t.Context(), "keys/a"))
	require.NoError(t, fsys.Symlink(t.Context(), "/"+strings.Repeat("secret-target/", 5), "keys/link"))
	require.NoError(t, fsys.Mkdir(t.Context(), "empty", 0o755))
	require.NoError(t, fsys.Close())

	for paths, want := range map[string]error{
		"keys": syscall.EISDIR, "nothing": fs.ErrNotExist, "kept/below": fs.ErrNotExist, ".": syscall.EINVAL, "../..": syscall.EINVAL,
	} {
		_, err := purge.Run(t.Context(), path, []string{"kept", paths}, nil)
		require.ErrorIs(t, err, want, paths)
	}
	_, err := purge.Run(t.Context(), path, []string{"empty"}, &purge.Options{Recursive: true})
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = purge.Run(t.Context(), path, []string{"kept"}, &purge.Options{Reason: strings.Repeat("r", 5000)})
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = purge.Run(t.Context(), path+".none", []string{"kept"}, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)

	s.bytes = append(s.bytes, []byte(strings.Repeat("secret-target/", 5)))
	require.NotEmpty(t, s.in(t, path))
	report, err := purge.Run(t.Context(), path, []string{"keys"}, &purge.Options{Recursive: true})
	require.NoError(t, err)
	require.Len(t, report.Files, 3)
	require.Empty(t, s.in(t, path))
	sound(t, path)
	fsys = open(t, path)
	entries, err := fsys.ReadDir(t.Context(), "keys")
	require.NoError(t, err)
	require.Len(t, entries, 1)
	_, err = fsys.Stat(t.Context(), "kept")
	require.NoError(t, err)
}

// An undo of a call that wrote the file, and of the purge, does not bring it back.
func TestUndo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := newSecret()
	fsys := open(t, path)
	write(t, fsys, "dir/other", []byte("stays"))
	data := s.noise(100)
	require.NoError(t, fsys.WriteFile(call(t.Context(), 1), "dir/key", data, 0o644))
	vfstest.Snapshot(t, fsys, "one")
	require.NoError(t, fsys.Remove(call(t.Context(), 2), "dir/key"))
	vfstest.Snapshot(t, fsys, "two")
	require.NoError(t, fsys.Close())
	_, err := purge.Run(vfs.WithCall(t.Context(), &vfs.Call{Actor: "ann"}), path, []string{"dir/key"}, nil)
	require.NoError(t, err)

	fsys = open(t, path)
	calls, err := fsys.Store().Calls(t.Context(), nil)
	require.NoError(t, err)
	for _, c := range calls {
		_, _ = undo.Undo(call(t.Context(), 9), fsys, &undo.Options{Call: c.ID})
		_, err = fsys.Stat(t.Context(), "dir/key")
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	require.NoError(t, fsys.Close())
	sound(t, path)
	require.Empty(t, s.in(t, path))
}
