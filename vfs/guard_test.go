package vfs_test

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/vfs"
)

// What an Update did before the disk was full is not kept by what comes after, whatever the closure makes of the error.
func TestFullDisk(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a")
	before := vfstest.Dump(t, fsys)
	limit := func(pages int64) {
		require.NoError(t, fsys.DB().Update(ctx, func(db *schema.Tx) error {
			_, err := db.Exec(`PRAGMA max_page_count = ` + strconv.FormatInt(pages, 10))
			return err
		}))
	}
	limit(count(t, fsys, `PRAGMA page_count`) + 2)
	err := fsys.Update(ctx, func(tx *vfs.Tx) error {
		require.ErrorIs(t, tx.WriteFile("big", random(100<<10), 0o644), syscall.ENOSPC)
		require.Error(t, tx.Mkdir("after", 0o755))
		return nil
	})
	require.Error(t, err)
	err = fsys.Update(ctx, func(tx *vfs.Tx) error {
		require.NoError(t, tx.WriteFile("p1", nil, 0o644))
		return tx.WriteFile("p2", random(200<<10), 0o644)
	})
	require.ErrorIs(t, err, syscall.ENOSPC)
	limit(1 << 30)
	require.Equal(t, before, vfstest.Dump(t, fsys))
	vfstest.Write(t, fsys, "after", "space came back")
}

// A closure that ends by runtime.Goexit, as t.FailNow does, leaves no lock behind.
func TestGoexit(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a")
	for _, run := range []func(){
		func() {
			_ = fsys.Update(ctx, func(tx *vfs.Tx) error { _ = tx.Remove("a"); runtime.Goexit(); return nil })
		},
		func() { _ = fsys.View(ctx, func(*vfs.Tx) error { runtime.Goexit(); return nil }) },
	} {
		done := make(chan struct{})
		go func() { defer close(done); run() }()
		<-done
		require.Equal(t, "a", vfstest.Read(t, fsys, "a"))
		vfstest.Write(t, fsys, "b", "b")
	}
}

// A name means the file that it meant when it was opened; another file in its place does not answer.
func TestMovedFile(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	t.Chdir(dir)
	fsys, err := vfs.Open(ctx, "a.db", nil)
	require.NoError(t, err)
	defer fsys.Close()
	require.NoError(t, fsys.WriteFile(ctx, "f", []byte("ours"), 0o644))
	t.Chdir(t.TempDir())
	other, err := vfs.Open(ctx, "a.db", nil)
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.Equal(t, "ours", vfstest.Read(t, fsys, "f"))

	require.NoError(t, fsys.View(ctx, func(*vfs.Tx) error { // the idle reader is in use, so another is opened
		require.NoError(t, os.Rename(filepath.Join(dir, "a.db"), filepath.Join(dir, "moved.db")))
		_, err := fsys.ReadDir(ctx, ".")
		require.ErrorIs(t, err, syscall.ESTALE)
		require.Equal(t, "ours", vfstest.Read(t, fsys, "f"), "what is known needs no reader")
		return nil
	}))
	require.NoError(t, os.Rename(filepath.Join(dir, "moved.db"), filepath.Join(dir, "a.db")))
	require.Equal(t, "ours", vfstest.Read(t, fsys, "f"))
}

func TestOpenMakesNothingForABranch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	_, err := vfs.Open(t.Context(), path, &vfs.Options{Branch: "none"})
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = os.Stat(path)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// Offsets at the end of what a number holds are refused, and what was written before stays.
func TestHugeOffsets(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	f, err := fsys.Create(ctx, "f")
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("good"), 0)
	require.NoError(t, err)
	for _, off := range []int64{math.MaxInt64 - 5, math.MaxInt64, 1 << 51} {
		_, err = f.WriteAt([]byte("0123456789"), off)
		require.ErrorIs(t, err, syscall.EFBIG)
	}
	_, err = f.WriteAt([]byte("x"), -1)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorIs(t, f.Truncate(math.MaxInt64), syscall.EFBIG)
	require.NoError(t, f.Close())
	require.Equal(t, "good", vfstest.Read(t, fsys, "f"))
}

// An owner that 32 bits do not hold is not taken for another, such as root.
func TestHugeOwners(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	if math.MaxInt == math.MaxInt32 {
		t.Skip("there are none")
	}
	largest := int64(math.MaxUint32)
	require.NoError(t, fsys.Chown(ctx, "f", 7, int(largest)))
	for _, id := range []int64{largest + 1, 2*largest + 9, math.MinInt64} {
		require.ErrorIs(t, fsys.Chown(ctx, "f", int(id), -1), syscall.EINVAL)
		require.ErrorIs(t, fsys.Lchown(ctx, "f", -1, int(id)), syscall.EINVAL)
	}
	info, err := fsys.Stat(ctx, "f")
	require.NoError(t, err)
	uid, gid := info.Owner()
	require.Equal(t, []int64{7, largest}, []int64{int64(uid), int64(gid)})
}

// An edit whose result would be too large is refused before it is made.
func TestEditBomb(t *testing.T) {
	fsys := vfstest.New(t)
	vfstest.Write(t, fsys, "f", strings.Repeat("a", 1<<20))
	_, err := fsys.Edit(t.Context(), "f", []vfs.Edit{{Old: "a", New: strings.Repeat("b", 1<<20), All: true}})
	require.ErrorIs(t, err, syscall.EFBIG)
}

// Moments that are not past, or not kept, are neither stood on nor forked; nor is a part of a tree.
func TestMomentsAreGuarded(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/a")
	head := fsys.Moment()
	_, err := fsys.At(ctx, head)
	require.ErrorIs(t, err, syscall.EINVAL)
	for _, at := range []vfs.Moment{{Branch: head.Branch, Epoch: 2}, {Branch: 77777, Epoch: 2}} {
		_, err := fsys.At(ctx, at)
		require.ErrorIs(t, err, syscall.ESTALE)
	}
	for _, at := range []vfs.Moment{head, {Branch: head.Branch, Epoch: 1 << 40}, {Branch: 77777, Epoch: 2}} {
		require.Error(t, fsys.Update(ctx, func(tx *vfs.Tx) error { return tx.Fork(at, "b") }))
	}
	var past vfs.Moment // which nothing keeps
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) (err error) { past, err = tx.Freeze(); return err }))
	require.ErrorIs(t, fsys.Update(ctx, func(tx *vfs.Tx) error { return tx.Fork(past, "b") }), syscall.ESTALE)
	jail, err := fsys.OpenRoot(ctx, "d")
	require.NoError(t, err)
	require.ErrorIs(t, jail.Update(ctx, func(tx *vfs.Tx) error { _, err := tx.Restore(fsys); return err }), syscall.EINVAL)
	require.ErrorIs(t, jail.Update(ctx, func(tx *vfs.Tx) error { _, err := tx.Freeze(); return err }), syscall.EINVAL)
}

// A Tx that was kept changes nothing once its transaction has ended, nor what comes after.
func TestKeptTxWritesNothing(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f", "g")
	before := vfstest.Dump(t, fsys)
	var kept *vfs.Tx
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		kept = tx
		_, err := tx.Stat("f") // so that it is in memory
		return err
	}))
	for name, verb := range map[string]func() error{
		"chmod":   func() error { return kept.Chmod("f", 0o777) },
		"write":   func() error { return kept.WriteFile("f", nil, 0o644) },
		"remove":  func() error { return kept.Remove("f") },
		"rename":  func() error { return kept.Rename("f", "h") },
		"mkdir":   func() error { return kept.Mkdir("d", 0o755) },
		"freeze":  func() error { _, err := kept.Freeze(); return err },
		"restore": func() error { _, err := kept.Restore(fsys); return err },
	} {
		require.ErrorIs(t, verb(), fs.ErrClosed, name)
	}
	require.NoError(t, fsys.WriteFile(ctx, "g", []byte("g"), 0o644))
	require.Equal(t, before, vfstest.Dump(t, fsys))
	cold := vfstest.Open(t, fsys.DB().Path(), nil)
	require.Equal(t, before, vfstest.Dump(t, cold))
}

// Trees of two stores are not compared: what stands under the same numbers has nothing in common.
func TestCompareTwoStores(t *testing.T) {
	a, b := vfstest.New(t, "a"), vfstest.New(t, "b")
	require.NoError(t, a.View(t.Context(), func(x *vfs.Tx) error {
		return b.View(t.Context(), func(y *vfs.Tx) error {
			_, err := vfs.Compare(x, y)
			require.ErrorIs(t, err, syscall.EXDEV)
			return nil
		})
	}))
}

// Entries of a transaction end with it.
func TestEntriesEnd(t *testing.T) {
	fsys := vfstest.New(t, "a")
	var entries []fs.DirEntry
	require.NoError(t, fsys.View(t.Context(), func(tx *vfs.Tx) (err error) {
		entries, err = tx.ReadDir(".")
		return err
	}))
	_, err := entries[0].Info()
	require.ErrorIs(t, err, fs.ErrClosed)
}

// Times that cannot be stored become the nearest that can.
func TestTimes(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	for _, tt := range []struct{ set, want time.Time }{
		{time.Unix(0, 0), time.Unix(0, 0)},
		{time.Unix(-1, 5), time.Unix(-1, 5)},
		{time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, math.MaxInt64)},
		{time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, math.MinInt64)},
	} {
		require.NoError(t, fsys.Chtimes(ctx, "f", time.Time{}, tt.set))
		info, err := fsys.Stat(ctx, "f")
		require.NoError(t, err)
		require.True(t, tt.want.Equal(info.ModTime()), "%v", tt.set)
		require.NoError(t, fsys.Copy(ctx, "f", "g"))
		info, err = fsys.Stat(ctx, "g")
		require.NoError(t, err)
		require.True(t, tt.want.Equal(info.ModTime()), "a copy of %v", tt.set)
	}
}
