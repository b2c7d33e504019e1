package purge_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/check"
	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/journal"
	"vfsdb/merge"
	"vfsdb/purge"
	"vfsdb/schema"
	"vfsdb/snapshot"
	"vfsdb/undo"
	"vfsdb/vfs"
	"vfsdb/xattr"
)

// A secret makes contents that are nowhere else, and remembers their bytes.
type secret struct {
	rnd   *rand.Rand
	word  string // in each line of its texts
	bytes [][]byte
}

func newSecret() *secret {
	return &secret{rnd: rand.New(rand.NewPCG(13, 6)), word: "password and token of the secret account"}
}

// noise returns n bytes that do not compress, and text n bytes that do.
func (s *secret) noise(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(s.rnd.Uint32())
	}
	s.bytes = append(s.bytes, p)
	return p
}

func (s *secret) text(n int) []byte {
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "%s %x\n", s.word, s.rnd.Uint64())
	}
	p := b.Bytes()[:n]
	s.bytes = append(s.bytes, p)
	return p
}

// in returns what of the secret is in the raw files of a store: any 24 bytes that begin at a multiple of 8.
func (s *secret) in(t testing.TB, path string) (found []string) {
	t.Helper()
	pieces := make(map[string]bool)
	starts := make([]bool, 1<<24) // of pieces, by their first three bytes
	for _, p := range s.bytes {
		for at := 0; at+24 <= len(p); at += 8 {
			pieces[string(p[at:at+24])] = true
			starts[int(p[at])<<16|int(p[at+1])<<8|int(p[at+2])] = true
		}
	}
	names, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	for _, name := range names {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		for at := 0; at+24 <= len(raw); at++ {
			if starts[int(raw[at])<<16|int(raw[at+1])<<8|int(raw[at+2])] && pieces[string(raw[at:at+24])] {
				found = append(found, fmt.Sprintf("%s at %d: %q", filepath.Base(name), at, raw[at:at+24]))
				if len(found) > 5 {
					return found
				}
			}
		}
	}
	return found
}

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

// packed adds the compressed bytes of the packs that have a content of the secret in them. It returns how many these are.
func (s *secret) packed(t testing.TB, fsys *vfs.FS) (n int) {
	t.Helper()
	require.NoError(t, vfstest.DB(fsys).View(t.Context(), func(tx *schema.Tx) error {
		var frames [][]byte
		for _, p := range s.bytes {
			sum := vfs.SumOf(p)
			rows := tx.Query(`SELECT p.data FROM blob b JOIN pack p ON instr(p.blobs, unhex(printf('%016X', b.id))) WHERE b.sum = ? AND b.codec = 2`, sum[:])
			for rows.Next() {
				frames = append(frames, rows.Bytes(0))
			}
			if err := rows.Err(); err != nil {
				return err
			}
		}
		n = len(frames)
		s.bytes = append(s.bytes, frames...)
		return nil
	}))
	return n
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

// Content that other files have too: purge refuses, purges them as well, or leaves them what they have.
func TestCopies(t *testing.T) {
	for _, tt := range []struct {
		name   string
		copies purge.Copies
		edit   bool // the copy differs by some bytes in a long chunk
	}{
		{"refused", purge.RefuseCopies, false},
		{"refused when edited", purge.RefuseCopies, true},
		{"purged", purge.PurgeCopies, false},
		{"purged when edited", purge.PurgeCopies, true},
		{"kept", purge.KeepCopies, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			s := newSecret()
			fsys := open(t, path)
			data := s.noise(400 << 10)
			write(t, fsys, "key", data)
			vfstest.Snapshot(t, fsys, "before")
			require.NoError(t, fsys.Copy(t.Context(), "key", "copy"))
			if tt.edit {
				f, err := fsys.OpenFile(t.Context(), "copy", os.O_RDWR, 0)
				require.NoError(t, err)
				_, err = f.WriteAt([]byte("changed"), 1000)
				require.NoError(t, err)
				require.NoError(t, f.Close())
			}
			require.NoError(t, fsys.Copy(t.Context(), "key", "removed"))
			require.NoError(t, fsys.Remove(t.Context(), "removed"))
			write(t, fsys, "other", []byte("something else"))
			write(t, fsys, "key", s.noise(1000))
			require.NoError(t, fsys.Close())

			report, err := purge.Run(t.Context(), path, []string{"key"}, &purge.Options{Copies: tt.copies})
			switch tt.copies {
			case purge.RefuseCopies:
				var shared *purge.SharedError
				require.ErrorAs(t, err, &shared)
				require.ErrorIs(t, err, syscall.EMLINK)
				require.Equal(t, []purge.Place{{Branch: "main", Path: "copy"}}, shared.Files[0].Places)
				sound(t, path)
				fsys = open(t, path)
				_, err = fsys.Stat(t.Context(), "key")
				require.NoError(t, err)
			case purge.PurgeCopies:
				require.NoError(t, err)
				require.NotEmpty(t, report.Files[1].Places)
				require.Empty(t, s.in(t, path))
				sound(t, path)
				fsys = open(t, path)
				_, err = fsys.Stat(t.Context(), "copy")
				require.ErrorIs(t, err, fs.ErrNotExist)
			case purge.KeepCopies:
				require.NoError(t, err)
				require.Len(t, report.Shared, 1)
				sound(t, path)
				fsys = open(t, path)
				got, err := fsys.ReadFile(t.Context(), "copy")
				require.NoError(t, err)
				require.True(t, bytes.Equal(data, got))
				s.bytes = s.bytes[1:]
				require.Empty(t, s.in(t, path))
			}
			got, err := fsys.ReadFile(t.Context(), "other")
			require.NoError(t, err)
			require.Equal(t, "something else", string(got))
		})
	}
}

// The same bytes in a file that was written by itself share no chunk; the search at the end finds them.
func TestFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := newSecret()
	fsys := open(t, path)
	data := s.noise(200)
	write(t, fsys, "key", data)
	write(t, fsys, "notes/pasted", append([]byte("# from the key\n"), data...))
	require.NoError(t, fsys.Close())

	_, err := purge.Run(t.Context(), path, []string{"key"}, nil)
	var found *purge.FoundError
	require.ErrorAs(t, err, &found)
	require.ErrorIs(t, err, syscall.EEXIST)
	require.Equal(t, 11, found.Of)
	require.Equal(t, []purge.Holder{{Place: purge.Place{Branch: "main", Path: "notes/pasted"}, Samples: 11}}, found.Holders)
	sound(t, path)
	_, err = purge.Run(t.Context(), path, []string{"notes/pasted"}, nil)
	require.NoError(t, err)
	require.Empty(t, s.in(t, path))
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

// A store that is open is EBUSY, and unchanged.
func TestBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	fsys := open(t, path)
	write(t, fsys, "key", []byte("a secret"))
	_, err := purge.Run(t.Context(), path, []string{"key"}, nil)
	require.ErrorIs(t, err, syscall.EBUSY)
	_, err = fsys.Stat(t.Context(), "key")
	require.NoError(t, err)
	dry, err := purge.Run(t.Context(), path, []string{"key"}, &purge.Options{DryRun: true})
	require.NoError(t, err)
	require.Len(t, dry.Files, 1)
	require.NoError(t, fsys.Close())
	_, err = purge.Run(t.Context(), path, []string{"key"}, nil)
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

var errCut = errors.New("cut short")

// copied copies a store that nobody has open.
func copied(t testing.TB, whole string) string {
	t.Helper()
	data, err := os.ReadFile(whole)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "store.db")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// A purge that is cut short after any step has not begun, or is finished by the next one.
func TestCutShort(t *testing.T) {
	var steps []string
	path := filepath.Join(t.TempDir(), "store.db")
	filled(t, path, newSecret())
	_, err := purge.RunHooked(t.Context(), path, []string{"dir/key"}, nil, func(step string) error {
		steps = append(steps, step)
		return nil
	})
	require.NoError(t, err)
	require.Contains(t, steps, "search")

	s := newSecret()
	whole := filepath.Join(t.TempDir(), "whole.db")
	filled(t, whole, s)
	for n, step := range steps {
		t.Run(fmt.Sprint(n, step), func(t *testing.T) {
			path := copied(t, whole)
			seen := 0
			_, err := purge.RunHooked(t.Context(), path, []string{"dir/key"}, nil, func(string) error {
				if seen++; seen > n {
					return errCut
				}
				return nil
			})
			require.ErrorIs(t, err, errCut)

			fsys := open(t, path)
			_, unfinished, err := purge.Unfinished(t.Context(), fsys)
			require.NoError(t, err)
			require.True(t, unfinished)
			report, err := check.Run(t.Context(), fsys, nil)
			require.NoError(t, err)
			require.Empty(t, report.Faults)
			require.NoError(t, fsys.Close())

			paths := []string{"dir/key"}
			if n%2 == 1 {
				paths = nil
			}
			again, err := purge.Run(t.Context(), path, paths, nil)
			require.NoError(t, err)
			require.True(t, again.Finished)
			sound(t, path)
			require.Empty(t, s.in(t, path))
		})
	}
}

// A purge that is killed at any time has not begun, or the next one finishes it.
func TestKillPurge(t *testing.T) {
	ctx := t.Context()
	if path := os.Getenv("PURGE_CHILD"); path != "" {
		_, err := purge.Run(ctx, path, []string{"dir/key"}, nil)
		require.NoError(t, err)
		return
	}

	s := newSecret()
	whole := filepath.Join(t.TempDir(), "whole.db")
	filled(t, whole, s)
	long := vfstest.KillAfter(t, vfstest.Child(t, "PURGE_CHILD="+copied(t, whole)), 0)
	rnd := rand.New(rand.NewPCG(7, uint64(os.Getpid())))
	untouched, cut := 0, 0
	for range vfstest.Kills(t, 4) {
		path := copied(t, whole)
		vfstest.KillAfter(t, vfstest.Child(t, "PURGE_CHILD="+path), max(1, time.Duration(rnd.Int64N(int64(long)))))

		fsys := open(t, path)
		_, unfinished, err := purge.Unfinished(ctx, fsys)
		require.NoError(t, err)
		_, there := fsys.Stat(ctx, "dir/key")
		report, err := check.Run(ctx, fsys, nil)
		require.NoError(t, err)
		require.Empty(t, report.Faults)
		require.NoError(t, fsys.Close())
		switch {
		case there == nil:
			require.False(t, unfinished)
			untouched++
		case unfinished:
			cut++
		}

		if there == nil || unfinished {
			_, err = purge.Run(ctx, path, []string{"dir/key"}, nil)
			require.NoError(t, err)
		}
		sound(t, path)
		require.Empty(t, s.in(t, path))
	}
	t.Logf("%d had not begun, %d were finished by the next", untouched, cut)
}

// While another process has the store open, a purge is EBUSY, names that process, and changes nothing.
func TestBusyElsewhere(t *testing.T) {
	if path := os.Getenv("PURGE_CHILD"); path != "" {
		fsys := open(t, path)
		_, err := fsys.Stat(t.Context(), "key")
		require.NoError(t, err)
		fmt.Println("open")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	if runtime.GOOS == "windows" {
		t.Skip("this host does not show the locks of other processes")
	}
	path := filepath.Join(t.TempDir(), "store.db")
	s := newSecret()
	fsys := open(t, path)
	write(t, fsys, "key", s.noise(100))
	require.NoError(t, fsys.Close())

	child := vfstest.Child(t, "PURGE_CHILD="+path)
	in, err := child.StdinPipe()
	require.NoError(t, err)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)

	_, err = purge.Run(t.Context(), path, []string{"key"}, nil)
	require.ErrorIs(t, err, syscall.EBUSY)
	require.ErrorContains(t, err, fmt.Sprint(child.Process.Pid))
	require.NotEmpty(t, s.in(t, path))
	require.NoError(t, in.Close())
	_, _ = io.Copy(io.Discard, out)
	require.NoError(t, child.Wait())

	_, err = purge.Run(t.Context(), path, []string{"key"}, nil)
	require.NoError(t, err)
	fsys = open(t, path)
	write(t, fsys, "new", []byte("new"))
	require.Empty(t, s.in(t, path), "also with its log and index beside it")
}
