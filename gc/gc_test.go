package gc_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

func TestMain(m *testing.M) { vfstest.Main(m) }

// noise returns bytes that no other call returns with another seed.
func noise(seed uint64, n int) []byte {
	p := make([]byte, n)
	var key [32]byte
	for i := range 8 {
		key[i] = byte(seed >> (8 * i))
	}
	_, _ = rand.NewChaCha8(key).Read(p)
	return p
}

const (
	big    = 2*chunk.Size + 77
	medium = chunk.Size + 77

	waiting = time.Minute
	tick    = 20 * time.Millisecond
)

func now() int64 { return time.Now().UnixNano() }

func write(t testing.TB, fsys *vfs.FS, name string, data []byte) {
	t.Helper()
	require.NoError(t, fsys.WriteFile(t.Context(), name, data, 0o644, vfs.Parents()))
}

func read(t testing.TB, fsys *vfs.FS, name string) []byte {
	t.Helper()
	data, err := fsys.ReadFile(t.Context(), name)
	require.NoError(t, err)
	return data
}

func run(t testing.TB, fsys *vfs.FS) *gc.Report {
	t.Helper()
	report, err := gc.Run(t.Context(), fsys, nil)
	require.NoError(t, err)
	return report
}

// second opens the store once more. It stands for another process: it has a lease, caches and connections of its own.
func second(t testing.TB, fsys *vfs.FS) *vfs.FS {
	t.Helper()
	return vfstest.Open(t, fsys.Store().Path(), &vfs.Options{Relaxed: true})
}

// count returns the number of rows of a table.
func count(t testing.TB, fsys *vfs.FS, table string) int64 {
	t.Helper()
	return vfstest.Number(t, fsys, `SELECT count(*) FROM `+table)
}

// clean checks that a collection left nothing of itself, and nothing that could have gone.
func clean(t testing.TB, fsys *vfs.FS) {
	t.Helper()
	vfstest.Check(t, fsys)
	require.Zero(t, vfstest.Number(t, fsys, `SELECT phase FROM gc`), "phase")
	require.Zero(t, vfstest.Number(t, fsys, `SELECT collector <> '' FROM gc`), "owner")
	for _, table := range []string{"touched", "doomed", "orphan"} {
		require.Zero(t, count(t, fsys, table), table)
	}
	again := run(t, fsys)
	require.Zero(t, again.Rows+again.Orphans+again.Blobs+again.Manifests+again.Branches+again.Pages, "a second collection found %+v", again)
}

func TestNothingToDo(t *testing.T) {
	fsys := vfstest.New(t, "a", "dir/b")
	before := vfstest.Dump(t, fsys)
	report := run(t, fsys)
	require.Zero(t, report.Blobs+report.Manifests+report.Rows+report.Orphans+report.Branches)
	require.Equal(t, before, vfstest.Dump(t, fsys))
	clean(t, fsys)
}

func TestRemovedContentGoes(t *testing.T) {
	fsys := vfstest.New(t, "keep")
	write(t, fsys, "small", noise(1, 3000))
	write(t, fsys, "big", noise(2, big))
	write(t, fsys, "copy", noise(2, big))
	write(t, fsys, "tree/deep/er/file", noise(3, big))
	write(t, fsys, "tree/other", noise(4, 100))
	require.NoError(t, fsys.Remove(t.Context(), "small"))
	require.NoError(t, fsys.Remove(t.Context(), "big"))
	require.NoError(t, fsys.RemoveAll(t.Context(), "tree"))
	want := vfstest.Dump(t, fsys)

	report := run(t, fsys)
	require.EqualValues(t, 7, report.Orphans, "small, big, tree, deep, er, file, other")
	require.EqualValues(t, 1+3+1, report.Blobs)
	require.EqualValues(t, 1, report.Manifests)
	require.EqualValues(t, 3000+big+100, report.Bytes)
	require.Equal(t, want, vfstest.Dump(t, fsys))
	require.Equal(t, noise(2, big), read(t, fsys, "copy"))
	clean(t, fsys)
}

// The staged content of a failed stream is collected.
func TestBrokenStream(t *testing.T) {
	fsys := vfstest.New(t)
	fault := errors.New("the source broke")
	r := &source{data: noise(1, 40*chunk.Size), end: fault}
	_, err := fsys.WriteFrom(t.Context(), "new", r, 0o644)
	require.ErrorIs(t, err, fault)
	require.NotZero(t, count(t, fsys, "blob"))
	// The lease lets go of the stream when its heartbeat wakes up, in a moment.
	require.Eventually(t, func() bool {
		return vfstest.Number(t, fsys, `SELECT count(*) FROM lease WHERE floor < 9223372036854775807`) == 0
	}, waiting, tick)
	run(t, fsys)
	require.Zero(t, count(t, fsys, "blob"))
	clean(t, fsys)
}

// The content that snapshots and branches show stays until they are gone.
func TestHistoryKeeps(t *testing.T) {
	fsys := vfstest.New(t)
	ctx := t.Context()
	write(t, fsys, "a", noise(1, big))
	s1 := vfstest.Snapshot(t, fsys, "s1")
	write(t, fsys, "a", noise(2, big))
	side := vfstest.Branch(t, fsys, "side")
	write(t, fsys, "a", noise(3, big))
	require.NoError(t, fsys.Remove(ctx, "a"))

	report := run(t, fsys)
	require.EqualValues(t, 3, report.Blobs, "only what nobody froze")
	require.Equal(t, noise(1, big), read(t, s1.FS, "a"))
	require.Equal(t, noise(2, big), read(t, side, "a"))

	require.NoError(t, snapshot.Delete(ctx, fsys, "s1"))
	require.EqualValues(t, 3, run(t, fsys).Blobs)
	require.Equal(t, noise(2, big), read(t, side, "a"))

	require.NoError(t, snapshot.DeleteBranch(ctx, fsys, "side"))
	report = run(t, fsys)
	require.EqualValues(t, 1, report.Branches)
	require.EqualValues(t, 3, report.Blobs)
	require.Zero(t, count(t, fsys, "blob")+count(t, fsys, "manifest"))
	clean(t, fsys)
}

// Space comes back to the file system.
func TestFileShrinks(t *testing.T) {
	fsys := vfstest.New(t, "keep")
	size := func() int64 {
		_, err := fsys.Store().Checkpoint(t.Context())
		require.NoError(t, err)
		info, err := os.Stat(fsys.Store().Path())
		require.NoError(t, err)
		return info.Size()
	}
	empty := size()
	write(t, fsys, "big", noise(1, 20<<20))
	write(t, fsys, "behind", noise(2, 1<<20))
	full := size()
	require.Greater(t, full, int64(21<<20))
	require.NoError(t, fsys.Remove(t.Context(), "big"))
	report := run(t, fsys)
	require.Greater(t, report.Pages, int64(20<<20/schema.PageSize))
	require.Less(t, size(), empty+3<<20)
	require.Equal(t, noise(2, 1<<20), read(t, fsys, "behind"))
}

func TestReadOnly(t *testing.T) {
	fsys := vfstest.New(t, "a")
	reader, err := vfs.Open(t.Context(), fsys.Store().Path(), &vfs.Options{ReadOnly: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, reader.Close()) }()
	_, err = gc.Run(t.Context(), reader, nil)
	require.ErrorIs(t, err, syscall.EROFS)
	_, err = gc.Run(t.Context(), reader, &gc.Options{DryRun: true})
	require.NoError(t, err)
}

// A collection that cannot read the content in use deletes nothing.
func TestFailsClosed(t *testing.T) {
	for _, tt := range []struct{ name, damage string }{
		{"a manifest's bytes", `UPDATE manifest SET body = zeroblob(length(body))`},
		{"a manifest's length", `UPDATE manifest SET body = substr(body, 2)`},
		{"a missing manifest", `DELETE FROM manifest`},
		{"a missing blob of a manifest", `DELETE FROM blob WHERE id = (SELECT max(id) FROM blob)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys, err := vfs.Open(t.Context(), filepath.Join(t.TempDir(), "damaged.db"), &vfs.Options{Relaxed: true})
			require.NoError(t, err)
			defer fsys.Close()
			write(t, fsys, "garbage", noise(2, 4000))
			write(t, fsys, "big", noise(1, big))
			require.NoError(t, fsys.Remove(t.Context(), "garbage"))
			vfstest.Exec(t, fsys, tt.damage)
			blobs, manifests := count(t, fsys, "blob"), count(t, fsys, "manifest")
			_, err = gc.Run(t.Context(), fsys, nil)
			require.ErrorIs(t, err, vfs.ErrCorrupt)
			require.ErrorContains(t, err, "inode")
			require.Equal(t, blobs, count(t, fsys, "blob"))
			require.Equal(t, manifests, count(t, fsys, "manifest"))
			require.Zero(t, vfstest.Number(t, fsys, `SELECT phase FROM gc`))
			require.Zero(t, vfstest.Number(t, fsys, `SELECT collector <> '' FROM gc`))
		})
	}
}

// Damaged garbage is deleted like any other.
func TestDamagedGarbageGoes(t *testing.T) {
	fsys := vfstest.New(t)
	write(t, fsys, "big", noise(1, big))
	require.NoError(t, fsys.Remove(t.Context(), "big"))
	vfstest.Exec(t, fsys, `UPDATE manifest SET body = zeroblob(length(body))`)
	require.EqualValues(t, 1, run(t, fsys).Manifests)
	clean(t, fsys)
}

// history makes a store with something to do for every part of a collection.
func history(t *testing.T) *vfs.FS {
	t.Helper()
	fsys := vfstest.New(t, "keep", "dir/x")
	ctx := t.Context()
	for i := range 40 {
		write(t, fsys, fmt.Sprintf("tree/d%d/f%d", i%7, i), noise(uint64(100+i), 500))
	}
	write(t, fsys, "big", noise(1, medium))
	vfstest.Snapshot(t, fsys, "s1")
	write(t, fsys, "big", noise(2, medium))
	vfstest.Snapshot(t, fsys, "s2")
	b := vfstest.Branch(t, fsys, "b")
	write(t, b, "in b", noise(3, medium))
	require.NoError(t, b.RemoveAll(ctx, "tree/d1"))
	require.NoError(t, fsys.RemoveAll(ctx, "tree"))
	write(t, fsys, "kept", noise(4, medium))
	write(t, fsys, "gone", noise(5, medium))
	require.NoError(t, fsys.Remove(ctx, "gone"))
	require.NoError(t, snapshot.Delete(ctx, fsys, "s1"))
	gone := vfstest.Branch(t, fsys, "gone")
	write(t, gone, "x", noise(6, medium))
	require.NoError(t, snapshot.DeleteBranch(ctx, fsys, "gone"))
	return fsys
}

// A source yields data in pieces, calling at before each, and then ends.
type source struct {
	data []byte
	end  error
	at   func(left int)
}

func (s *source) Read(p []byte) (int, error) {
	if s.at != nil {
		s.at(len(s.data))
	}
	if len(s.data) == 0 {
		return 0, s.end
	}
	n := copy(p[:min(len(p), 100_000)], s.data)
	s.data = s.data[n:]
	return n, nil
}
