package vfs_test

import (
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// Rows of the contract that no other table covers, each a small use of the API.

// Bytes first; whole, by range, or as a stream that seeks; what is missing is ENOENT.
func TestContractRead(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "dir/")
	vfstest.Write(t, fsys, "f", "0123456789")
	part, err := fsys.ReadRange(ctx, "f", 3, 4)
	require.NoError(t, err)
	require.Equal(t, "3456", string(part))
	f, err := fsys.Open(ctx, "f")
	require.NoError(t, err)
	_, err = f.Seek(-2, io.SeekEnd)
	require.NoError(t, err)
	rest, err := io.ReadAll(f)
	require.NoError(t, err)
	require.Equal(t, "89", string(rest))
	require.NoError(t, f.Close())
	_, err = fsys.ReadFile(ctx, "none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = fsys.ReadFile(ctx, "dir")
	require.ErrorIs(t, err, syscall.EISDIR)
	for _, bad := range [][2]int64{{-1, 1}, {0, -1}} {
		_, err = fsys.ReadRange(ctx, "f", bad[0], bad[1])
		require.ErrorIs(t, err, syscall.EINVAL)
	}
}

// Directories above are made only on request.
func TestContractParents(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	for verb, do := range map[string]func(opts ...vfs.Option) error{
		"write":   func(o ...vfs.Option) error { return fsys.WriteFile(ctx, "w/x/f", nil, 0o644, o...) },
		"append":  func(o ...vfs.Option) error { return fsys.Append(ctx, "a/x/f", nil, 0o644, o...) },
		"mkdir":   func(o ...vfs.Option) error { return fsys.Mkdir(ctx, "m/x/d", 0o755, o...) },
		"symlink": func(o ...vfs.Option) error { return fsys.Symlink(ctx, "t", "s/x/l", o...) },
		"stream": func(o ...vfs.Option) error {
			_, err := fsys.WriteFrom(ctx, "r/x/f", strings.NewReader("x"), 0o644, o...)
			return err
		},
	} {
		require.ErrorIs(t, do(), syscall.ENOENT, verb)
		require.NoError(t, do(vfs.Parents()), verb)
	}
}

// ReadDir gives the direct children with their types, and fails where there is no directory.
func TestContractReadDir(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/file", "d/sub/below")
	require.NoError(t, fsys.Symlink(ctx, "file", "d/link"))
	entries, err := fsys.ReadDir(ctx, "d")
	require.NoError(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprint(e.Name(), " ", e.Type()))
	}
	require.Equal(t, []string{"file ----------", "link L---------", "sub d---------"}, got)
	_, err = fsys.ReadDir(ctx, "none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = fsys.ReadDir(ctx, "d/file")
	require.ErrorIs(t, err, syscall.ENOTDIR)
	files, err := vfs.List(ctx, fsys, "none")
	require.NoError(t, err, "List does not mind")
	require.Empty(t, files)
}

// Nanoseconds inside, the time of birth is kept, Lstat shows a symlink itself.
func TestContractStat(t *testing.T) {
	ctx := t.Context()
	before := time.Now()
	fsys := vfstest.New(t, "f")
	require.NoError(t, fsys.Symlink(ctx, "f", "l"))
	when := time.Unix(1709942400, 123456789)
	require.NoError(t, fsys.Chtimes(ctx, "f", time.Time{}, when))
	vfstest.Write(t, fsys, "g", "")
	info, err := fsys.Stat(ctx, "l")
	require.NoError(t, err)
	require.True(t, info.Mode().IsRegular())
	require.True(t, when.Equal(info.ModTime()))
	require.False(t, info.BirthTime().Before(before))
	require.False(t, info.ChangeTime().Before(info.BirthTime()))
	info, err = fsys.Lstat(ctx, "l")
	require.NoError(t, err)
	require.Equal(t, fs.ModeSymlink, info.Mode().Type())
	require.Equal(t, "f", info.Target())
}

// An edit is a compare-and-set: of many that start from one sum, one happens.
func TestContractEditIsCompareAndSet(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	vfstest.Write(t, fsys, "f", "value=0")
	sum, err := fsys.Sum(ctx, "f")
	require.NoError(t, err)
	var wg sync.WaitGroup
	results := make([]error, 8)
	for i := range results {
		wg.Go(func() {
			_, results[i] = fsys.Edit(ctx, "f", []vfs.Edit{{Old: "value=", New: fmt.Sprintf("by %d value=", i)}}, vfs.IfSum(sum))
		})
	}
	wg.Wait()
	done := 0
	for _, err := range results {
		if err == nil {
			done++
			continue
		}
		require.ErrorIs(t, err, syscall.ESTALE)
	}
	require.Equal(t, 1, done)
}

// What the sources leave out is here, for any bytes and any number of goroutines.
func TestContractVerbs(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			name := fmt.Sprint("f", i)
			for _, err := range []error{
				fsys.WriteFile(ctx, name, []byte{0, 0xff, byte(i)}, 0o644),
				fsys.Append(ctx, name, []byte("more"), 0o644),
				fsys.Truncate(ctx, name, 3),
				fsys.Chmod(ctx, name, 0o600),
				fsys.Chown(ctx, name, 7, i),
				fsys.Lchown(ctx, name, -1, 9),
				fsys.Copy(ctx, name, name+".copy"),
				fsys.Rename(ctx, name+".copy", name+".moved"),
			} {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for i := range 8 {
		info, err := fsys.Stat(ctx, fmt.Sprintf("f%d.moved", i))
		require.NoError(t, err)
		uid, gid := info.Owner()
		require.Equal(t, []int{7, 9}, []int{uid, gid})
		require.Equal(t, []byte{0, 0xff, byte(i)}, []byte(vfstest.Read(t, fsys, fmt.Sprintf("f%d.moved", i))))
	}
}

// A branch starts from the revision it is given, a moment stays what it was, and what a restore
// replaced can still be reached.
func TestContractHistory(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	vfstest.Write(t, fsys, "f", "1")
	one := vfstest.Snapshot(t, fsys, "one")
	vfstest.Write(t, fsys, "f", "2")
	two := vfstest.Snapshot(t, fsys, "two")
	old := vfstest.Branch(t, one, "old")
	require.Equal(t, "1", vfstest.Read(t, old, "f"))
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		_, err := tx.Restore(one.FS)
		return err
	}))
	require.Equal(t, "1", vfstest.Read(t, fsys, "f"))
	again, err := fsys.At(ctx, two.Moment())
	require.NoError(t, err)
	require.Equal(t, "2", vfstest.Read(t, again, "f"))
}
