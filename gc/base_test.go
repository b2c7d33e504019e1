package gc_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// overwrite writes words into a file that is there, 10,000 bytes apart, each in a commit of its own, and returns what
// it holds then. Without words it writes the file's name.
func overwrite(t testing.TB, fsys *vfs.FS, name string, words ...string) []byte {
	t.Helper()
	if len(words) == 0 {
		words = []string{name}
	}
	want := read(t, fsys, name)
	f, err := fsys.OpenFile(t.Context(), name, os.O_RDWR, 0)
	require.NoError(t, err)
	for i, word := range words {
		copy(want[10_000*(i+1):], word)
		_, err := f.WriteAt([]byte(word), int64(10_000*(i+1)))
		require.NoError(t, err)
		require.NoError(t, f.Sync())
	}
	require.NoError(t, f.Close())
	require.True(t, bytes.Equal(want, read(t, fsys, name)))
	return want
}

// patchedBy returns the content that overwrite makes of noise 50.
func patchedBy(word string) []byte {
	want := noise(50, medium)
	copy(want[10_000:], word)
	return want
}

// Every way in which a base may lose its last reference while the content over it lives on, and the other way round.
func TestBases(t *testing.T) {
	const length = chunk.Size
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, fsys *vfs.FS) (want map[string][]byte)
		left [2]int64 // blobs, and of those patched
	}{
		{"the file that had the base was overwritten", func(t *testing.T, fsys *vfs.FS) map[string][]byte {
			return map[string][]byte{"f": overwrite(t, fsys, "f")}
		}, [2]int64{2, 1}},
		{"overwritten again and again", func(t *testing.T, fsys *vfs.FS) map[string][]byte {
			return map[string][]byte{"f": overwrite(t, fsys, "f", "one", "two", "three", "four")}
		}, [2]int64{2, 1}},
		{"until it is stored whole", func(t *testing.T, fsys *vfs.FS) map[string][]byte {
			long := string(noise(3, 9000))
			return map[string][]byte{"f": overwrite(t, fsys, "f", long, long, long, long, long, long, long, long, long, long)}
		}, [2]int64{2, 1}},
		{"the copy that had the base was removed", func(t *testing.T, fsys *vfs.FS) map[string][]byte {
			require.NoError(t, fsys.Copy(t.Context(), "f", "g"))
			want := overwrite(t, fsys, "g")
			require.NoError(t, fsys.Remove(t.Context(), "f"))
			return map[string][]byte{"g": want}
		}, [2]int64{2, 1}},
		{"the patched was removed", func(t *testing.T, fsys *vfs.FS) map[string][]byte {
			require.NoError(t, fsys.Copy(t.Context(), "f", "g"))
			want := read(t, fsys, "f")
			overwrite(t, fsys, "g")
			require.NoError(t, fsys.Remove(t.Context(), "g"))
			return map[string][]byte{"f": want}
		}, [2]int64{1, 0}},
		{"all was removed", func(t *testing.T, fsys *vfs.FS) map[string][]byte {
			overwrite(t, fsys, "f", "one", "two")
			require.NoError(t, fsys.Remove(t.Context(), "f"))
			return nil
		}, [2]int64{0, 0}},
		{"more than a step takes was removed", func(t *testing.T, fsys *vfs.FS) map[string][]byte {
			for i := range 40 {
				name := fmt.Sprint("g", i)
				require.NoError(t, fsys.Copy(t.Context(), "f", name))
				overwrite(t, fsys, name)
				require.NoError(t, fsys.Remove(t.Context(), name))
			}
			require.NoError(t, fsys.Remove(t.Context(), "f"))
			return nil
		}, [2]int64{0, 0}},
		{"one of many over a base stays", func(t *testing.T, fsys *vfs.FS) map[string][]byte {
			want := make(map[string][]byte)
			for i := range 40 {
				name := fmt.Sprint("g", i)
				require.NoError(t, fsys.Copy(t.Context(), "f", name))
				want["g39"] = overwrite(t, fsys, name)
				if i < 39 {
					require.NoError(t, fsys.Remove(t.Context(), name))
				}
			}
			require.NoError(t, fsys.Remove(t.Context(), "f"))
			return want
		}, [2]int64{2, 1}},
		{"the snapshot that had the base was deleted", func(t *testing.T, fsys *vfs.FS) map[string][]byte {
			vfstest.Snapshot(t, fsys, "s")
			want := overwrite(t, fsys, "f")
			run(t, fsys)
			require.NoError(t, snapshot.Delete(t.Context(), fsys, "s"))
			return map[string][]byte{"f": want}
		}, [2]int64{2, 1}},
		{"restored to the base", func(t *testing.T, fsys *vfs.FS) map[string][]byte {
			want := read(t, fsys, "f")
			s := vfstest.Snapshot(t, fsys, "s")
			overwrite(t, fsys, "f")
			undo, err := snapshot.Restore(t.Context(), fsys, s)
			require.NoError(t, err)
			run(t, fsys)
			require.NoError(t, snapshot.Delete(t.Context(), fsys, undo.Info.Name))
			return map[string][]byte{"f": want}
		}, [2]int64{1, 0}},
		{"restored to the patched", func(t *testing.T, fsys *vfs.FS) map[string][]byte {
			want := overwrite(t, fsys, "f")
			s := vfstest.Snapshot(t, fsys, "s")
			write(t, fsys, "f", []byte("short"))
			run(t, fsys)
			undo, err := snapshot.Restore(t.Context(), fsys, s)
			require.NoError(t, err)
			require.NoError(t, snapshot.Delete(t.Context(), fsys, undo.Info.Name))
			return map[string][]byte{"f": want}
		}, [2]int64{2, 1}},
		{"the branch that had the base was dropped", func(t *testing.T, fsys *vfs.FS) map[string][]byte {
			vfstest.Branch(t, fsys, "b")
			want := overwrite(t, fsys, "f")
			run(t, fsys)
			require.NoError(t, snapshot.DeleteBranch(t.Context(), fsys, "b"))
			return map[string][]byte{"f": want}
		}, [2]int64{2, 1}},
		{"the branch that had the patched was dropped", func(t *testing.T, fsys *vfs.FS) map[string][]byte {
			b := vfstest.Branch(t, fsys, "b")
			overwrite(t, b, "f")
			run(t, fsys)
			require.NoError(t, snapshot.DeleteBranch(t.Context(), fsys, "b"))
			return map[string][]byte{"f": read(t, fsys, "f")}
		}, [2]int64{1, 0}},
		{"written by a stream meanwhile", func(t *testing.T, fsys *vfs.FS) map[string][]byte {
			want := overwrite(t, fsys, "f")
			require.NoError(t, fsys.Remove(t.Context(), "f"))
			_, err := fsys.WriteFrom(t.Context(), "g", bytes.NewReader(want), 0o644)
			require.NoError(t, err)
			return map[string][]byte{"g": want}
		}, [2]int64{2, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t)
			write(t, fsys, "f", noise(1, length))
			want := tt.do(t, fsys)
			forecast, err := gc.Run(t.Context(), fsys, &gc.Options{DryRun: true})
			require.NoError(t, err)
			report := run(t, fsys)
			require.Equal(t, forecast.Blobs, report.Blobs, "foretold")
			require.Equal(t, forecast.Bytes, report.Bytes, "foretold")
			for name, data := range want {
				require.True(t, bytes.Equal(data, read(t, fsys, name)), name)
			}
			require.Equal(t, tt.left, [2]int64{count(t, fsys, "blob"), count(t, fsys, "patch")})
			clean(t, fsys)
			if tt.left[0] > 0 {
				compact(t, fsys)
				for name, data := range want {
					require.True(t, bytes.Equal(data, read(t, fsys, name)), name)
				}
			}
		})
	}
}

// Content that only an open file of another process shows keeps its base.
func TestOpenPatchedKeepsBase(t *testing.T) {
	for _, size := range []int{chunk.Size, big} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			fsys := vfstest.New(t)
			write(t, fsys, "f", noise(1, size))
			want := overwrite(t, fsys, "f")
			other := second(t, fsys)
			defer publishOften(t, other)()
			f, err := other.OpenFrozen(t.Context(), "f")
			require.NoError(t, err)
			write(t, fsys, "f", noise(2, size))
			run(t, fsys)
			got, err := io.ReadAll(f)
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, got))
			require.NoError(t, f.Close())
			run(t, fsys)
			require.Zero(t, count(t, fsys, "patch"))
			clean(t, fsys)
		})
	}
}

// A base that is on the list when the sweep begins, and over which something is stored only then, stays.
func TestPatchedDuringSweep(t *testing.T) {
	fsys := vfstest.New(t)
	write(t, fsys, "f", noise(50, medium))
	other := second(t, fsys)
	defer publishOften(t, other)()
	f, err := other.OpenFile(t.Context(), "f", os.O_RDWR, 0)
	require.NoError(t, err)
	write(t, fsys, "garbage", noise(50, medium)[:chunk.Size])
	require.NoError(t, fsys.Remove(t.Context(), "garbage"))
	overwrite(t, fsys, "f")
	write(t, fsys, "f", []byte("short")) // base and patched are garbage now
	base := vfstest.Number(t, fsys, `SELECT base FROM patch`)
	_, err = gc.RunHooked(t.Context(), fsys, func(step string) error {
		if step != "sweep begins" {
			return nil
		}
		require.EqualValues(t, 2, vfstest.Number(t, fsys, `SELECT count(*) FROM doomed JOIN blob USING (id) WHERE kind = 2 AND size = 524288`))
		// Found by its sum, and in this very transaction stored over. The found content is touched, its base is not.
		_, err := f.WriteAt(patchedBy("f"), 0)
		require.NoError(t, err)
		require.NoError(t, f.Sync())
		require.EqualValues(t, 1, vfstest.Number(t, fsys, `SELECT count(*) FROM touched WHERE kind = 3`))
		_, err = f.WriteAt([]byte("two"), 20_000)
		require.NoError(t, err)
		return f.Sync()
	})
	require.NoError(t, err)
	require.NoError(t, f.Close())
	want := patchedBy("f")
	copy(want[20_000:], "two")
	require.True(t, bytes.Equal(want, read(t, fsys, "f")))
	require.EqualValues(t, base, vfstest.Number(t, fsys, `SELECT base FROM patch LIMIT 1`))
	vfstest.Check(t, fsys)
	run(t, fsys)
	clean(t, fsys)
}

// wide is content with a manifest long enough to be stored over others, and few chunks that differ. Nobody writes to it.
var wide = sync.OnceValue(func() []byte { return bytes.Repeat(noise(60, chunk.Size), 70) })

// requireWide reads the ends of wide content, and its sum.
func requireWide(t *testing.T, fsys *vfs.FS, name string, want []byte) {
	t.Helper()
	sum, err := fsys.Sum(t.Context(), name)
	require.NoError(t, err)
	require.Equal(t, chunk.Prepare(want).Sum(), sum)
	require.True(t, bytes.Equal(want, read(t, fsys, name)), name)
}

// As TestBases, for manifests. A manifest that is found by its sum must have all its chunks, so one that is kept as a
// base keeps its own.
func TestManifestBases(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, fsys *vfs.FS) (want []byte)
		left [2]int64 // manifests, and of those stored over others
	}{
		{"overwritten", func(t *testing.T, fsys *vfs.FS) []byte {
			return overwrite(t, fsys, "f", "one", "two", "three")
		}, [2]int64{2, 1}},
		{"removed", func(t *testing.T, fsys *vfs.FS) []byte {
			overwrite(t, fsys, "f", "one", "two", "three")
			require.NoError(t, fsys.Remove(t.Context(), "f"))
			return nil
		}, [2]int64{0, 0}},
		{"cut, so that it is stored whole", func(t *testing.T, fsys *vfs.FS) []byte {
			want := overwrite(t, fsys, "f", "one", "two")
			require.NoError(t, fsys.Truncate(t.Context(), "f", 60*chunk.Size))
			return want[:60*chunk.Size]
		}, [2]int64{1, 0}},
		{"restored", func(t *testing.T, fsys *vfs.FS) []byte {
			want := overwrite(t, fsys, "f", "one")
			s := vfstest.Snapshot(t, fsys, "s")
			overwrite(t, fsys, "f", "two", "three")
			run(t, fsys)
			undo, err := snapshot.Restore(t.Context(), fsys, s)
			require.NoError(t, err)
			require.NoError(t, snapshot.Delete(t.Context(), fsys, undo.Info.Name))
			require.NoError(t, snapshot.Delete(t.Context(), fsys, "s"))
			return want
		}, [2]int64{2, 1}},
		{"the base comes into use again", func(t *testing.T, fsys *vfs.FS) []byte {
			overwrite(t, fsys, "f", "one")
			run(t, fsys)
			require.NoError(t, fsys.Copy(t.Context(), "f", "g"))
			write(t, fsys, "f", wide())
			require.NoError(t, fsys.Remove(t.Context(), "g"))
			return wide()
		}, [2]int64{1, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t)
			write(t, fsys, "f", wide())
			want := tt.do(t, fsys)
			forecast, err := gc.Run(t.Context(), fsys, &gc.Options{DryRun: true})
			require.NoError(t, err)
			report := run(t, fsys)
			require.Equal(t, forecast.Manifests, report.Manifests, "foretold")
			require.Equal(t, forecast.Blobs, report.Blobs, "foretold")
			if want != nil {
				requireWide(t, fsys, "f", want)
			}
			require.Equal(t, tt.left, [2]int64{count(t, fsys, "manifest"), vfstest.Number(t, fsys, `SELECT count(*) FROM patch WHERE kind = 3`)})
			clean(t, fsys)
		})
	}
}

// At each step of a collection, a manifest over a base that is garbage comes into use again, found by its sum, and is
// changed further; its base stays, and each has all its chunks.
func TestManifestBasesDuringCollection(t *testing.T) {
	ctx := t.Context()
	want := bytes.Clone(wide())
	copy(want[10_000:], "one")
	more := bytes.Clone(want)
	copy(more[20_000:], "two")
	for _, at := range []string{"barrier", "grace for orphans", "mark", "list", "doom", "sweep begins", "grace for files", "sweep"} {
		t.Run(at, func(t *testing.T) {
			fsys := vfstest.New(t)
			write(t, fsys, "f", wide())
			overwrite(t, fsys, "f", "one")
			other := second(t, fsys)
			defer publishOften(t, other)()
			write(t, fsys, "f", []byte("short"))
			write(t, fsys, "other garbage", noise(3, medium))
			require.NoError(t, fsys.Remove(ctx, "other garbage"))
			done := false
			_, err := gc.RunHooked(ctx, fsys, func(step string) error {
				if step != at || done {
					return nil
				}
				done = true
				write(t, other, "g", want)
				f, err := other.OpenFile(ctx, "g", os.O_RDWR, 0)
				require.NoError(t, err)
				_, err = f.WriteAt([]byte("two"), 20_000)
				require.NoError(t, err)
				return f.Close()
			})
			require.NoError(t, err)
			require.True(t, done)
			requireWide(t, fsys, "g", more)
			vfstest.Check(t, fsys)
			run(t, fsys)
			requireWide(t, fsys, "g", more)
			write(t, fsys, "base", wide()) // if it is still there, it is whole
			requireWide(t, fsys, "base", wide())
			run(t, fsys)
			clean(t, fsys)
		})
	}
}
