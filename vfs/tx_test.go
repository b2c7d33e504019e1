package vfs_test

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Update is all or nothing, and sees what it did itself.
func TestUpdateAllOrNothing(t *testing.T) {
	fsys := vfstest.New(t, "a", "dir/b")
	before := vfstest.Dump(t, fsys)
	boom := errors.New("boom")
	err := fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		require.NoError(t, tx.WriteFile("a", []byte("changed"), 0o644))
		require.NoError(t, tx.Rename("dir", "moved"))
		require.NoError(t, tx.Mkdir("fresh", 0o755))
		data, err := tx.ReadFile("moved/b")
		require.NoError(t, err)
		require.Equal(t, "dir/b", string(data))
		require.NoError(t, tx.RemoveAll("moved"))
		_, err = tx.Stat("moved/b")
		require.ErrorIs(t, err, fs.ErrNotExist)
		return boom
	})
	require.ErrorIs(t, err, boom)
	require.Equal(t, before, vfstest.Dump(t, fsys))

	err = fsys.View(t.Context(), func(tx *vfs.Tx) error { return tx.Remove("a") })
	require.ErrorIs(t, err, syscall.EROFS, "a View does not write")
}

// A context that has ended stops a verb before it does anything.
func TestCancelled(t *testing.T) {
	fsys := vfstest.New(t, "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, fsys.WriteFile(ctx, "b", nil, 0o644), context.Canceled)
	_, err := fsys.ReadFile(ctx, "a")
	require.ErrorIs(t, err, context.Canceled)
	_, err = fsys.WriteFrom(ctx, "b", strings.NewReader("x"), 0o644)
	require.ErrorIs(t, err, context.Canceled)
	_, err = fsys.Stat(t.Context(), "b")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// Many writes are one commit. An error that is returned undoes them all; one that is passed over refuses one file.
func TestMany(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "dir/", "old")
	files := []struct{ name, data string }{{"a", "1"}, {"dir", "2"}, {"none/x", "3"}, {"old", "4"}}
	before := vfstest.Dump(t, fsys)
	err := fsys.Update(ctx, func(tx *vfs.Tx) error {
		for _, file := range files {
			if err := tx.WriteFile(file.name, []byte(file.data), 0o600); err != nil {
				return err
			}
		}
		return nil
	})
	require.ErrorIs(t, err, syscall.EISDIR)
	require.Equal(t, before, vfstest.Dump(t, fsys))

	results := make([]error, len(files))
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		for i, file := range files {
			results[i] = tx.WriteFile(file.name, []byte(file.data), 0o600)
		}
		return nil
	}))
	for i, want := range []error{nil, syscall.EISDIR, fs.ErrNotExist, nil} {
		require.ErrorIs(t, results[i], want, files[i].name)
	}
	require.NoError(t, fsys.View(ctx, func(tx *vfs.Tx) error {
		got, err := tx.ReadFile("old")
		require.NoError(t, err)
		require.Equal(t, "4", string(got))
		_, err = tx.ReadFile("none/x")
		require.ErrorIs(t, err, fs.ErrNotExist)
		got, err = tx.ReadFile("a")
		require.NoError(t, err)
		require.Equal(t, "1", string(got))
		sum, err := tx.Sum("a")
		require.NoError(t, err)
		require.Equal(t, vfs.SumOf(got), sum)
		return nil
	}))
}

// What an Update did before the disk was full is not kept by what comes after, whatever the closure makes of the error.
func TestFullDisk(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a")
	before := vfstest.Dump(t, fsys)
	limit := func(pages int64) {
		require.NoError(t, (*tree.Tree)(fsys).DB().Update(ctx, func(db *schema.Tx) error {
			_, err := db.Exec(`PRAGMA max_page_count = ` + strconv.FormatInt(pages, 10))
			return err
		}))
	}
	limit(vfstest.Number(t, fsys, `PRAGMA page_count`) + 2)
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
		"chmod":  func() error { return kept.Chmod("f", 0o777) },
		"write":  func() error { return kept.WriteFile("f", nil, 0o644) },
		"remove": func() error { return kept.Remove("f") },
		"rename": func() error { return kept.Rename("f", "h") },
		"mkdir":  func() error { return kept.Mkdir("d", 0o755) },
		"freeze": func() error { _, err := (*tree.Tx)(kept).Freeze(); return err },
	} {
		require.ErrorIs(t, verb(), fs.ErrClosed, name)
	}
	require.NoError(t, fsys.WriteFile(ctx, "g", []byte("g"), 0o644))
	require.Equal(t, before, vfstest.Dump(t, fsys))
	cold := vfstest.Open(t, fsys.Store().Path(), nil)
	require.Equal(t, before, vfstest.Dump(t, cold))
}
