package tree_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Each verb is recorded, where it went and with what it did to contents.
func TestVerbsAreRecorded(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	one, three := []byte("one"), []byte("three")
	for _, step := range []struct {
		do   func(tx *vfs.Tx) error
		want []string
	}{
		{func(tx *vfs.Tx) error { return tx.MkdirAll("d/e/f", 0o755) }, []string{"mkdir d", "mkdir d/e", "mkdir d/e/f"}},
		{func(tx *vfs.Tx) error { return tx.MkdirAll("/d/../d/e/", 0o755) }, nil},
		{func(tx *vfs.Tx) error { return tx.WriteFile("p/a", one, 0o644, vfs.Parents()) }, []string{"mkdir p", "create p/a ->'one' +3"}},
		{func(tx *vfs.Tx) error { return tx.Symlink("../p", "d/s") }, []string{"symlink d/s (../p)"}},
		{func(tx *vfs.Tx) error { return tx.WriteFile("d/s/a", three, 0o644) }, []string{"write p/a 'one'->'three' +2"}},
		{func(tx *vfs.Tx) error { return tx.Append("p/b", nil, 0o644) }, []string{"create p/b ->''"}},
		{func(tx *vfs.Tx) error { return tx.Append("p/b", one, 0o644) }, []string{"append p/b ''->'one' +3"}},
		{func(tx *vfs.Tx) error { return tx.Append("p/b", three, 0o644) }, []string{"append p/b 'one'->'onethree' +5"}},
		{func(tx *vfs.Tx) error { return tx.Truncate("p/b", 2) }, []string{"truncate p/b 'onethree'->'on' -6"}},
		{func(tx *vfs.Tx) error {
			_, err := tx.Edit("p/b", []vfs.Edit{{Old: "n", New: "N"}})
			return err
		}, []string{"edit p/b 'on'->'oN'"}},
		{func(tx *vfs.Tx) error { return tx.Rename("p/b", "p/c") }, []string{"rename p/c (p/b)"}},
		{func(tx *vfs.Tx) error { return tx.Rename("p/c", "p/a") }, []string{"rename p/a (p/c) 'three'->'oN' -5"}},
		{func(tx *vfs.Tx) error { return tx.Rename("p/a", "p/a") }, nil},
		{func(tx *vfs.Tx) error { return tx.Link("p/a", "d/l") }, []string{"link d/l (p/a)"}},
		{func(tx *vfs.Tx) error { return tx.Remove("d/l") }, []string{"remove d/l 'oN'->"}},
		{func(tx *vfs.Tx) error { return tx.Copy("p", "q") }, []string{"copy q (p)", "copy q/a (p/a) ->'oN' +2"}},
		{func(tx *vfs.Tx) error { return tx.WriteFile("q/a", one, 0o644) }, []string{"write q/a 'oN'->'one' +1"}},
		{func(tx *vfs.Tx) error { return tx.Copy("p/a", "q/a") }, []string{"copy q/a (p/a) 'one'->'oN' -1"}},
		{func(tx *vfs.Tx) error { return tx.Mknod("q/fifo", fs.ModeNamedPipe|0o600, 0) }, []string{"mknod q/fifo"}},
		{func(tx *vfs.Tx) error { return tx.Chmod("q/a", 0o600) }, []string{"chmod q/a"}},
		{func(tx *vfs.Tx) error { return tx.Lchown("d/s", 1, 2) }, []string{"chown d/s"}},
		{func(tx *vfs.Tx) error { return tx.Chtimes("d/s", time.Time{}, time.Unix(1, 0)) }, []string{"chtimes p"}},
		{func(tx *vfs.Tx) error { return tx.RemoveAll("q") }, []string{"removeall q"}},
		{func(tx *vfs.Tx) error { return tx.RemoveAll("q") }, nil},
		{func(tx *vfs.Tx) error { return tx.RemoveAll("p/a") }, []string{"removeall p/a 'oN'-> -2"}},
		{func(tx *vfs.Tx) error { return (*tree.Tx)(tx).Record("note", "d", "why") }, []string{"note d (why)"}},
	} {
		since, err := fsys.Seq(ctx)
		require.NoError(t, err)
		require.NoError(t, fsys.Update(ctx, step.do))
		if step.want == nil {
			step.want = []string{}
		}
		require.Equal(t, step.want, vfstest.Log(t, fsys, &vfs.LogOptions{Since: since}))
	}
	require.ErrorIs(t, fsys.Update(ctx, func(tx *vfs.Tx) error { return (*tree.Tx)(tx).Record("No op", ".", "") }), syscall.EINVAL)
	for _, path := range []string{"", "/d", "..", "d/", "d/./f", "a\x00b"} {
		require.ErrorIs(t, fsys.Update(ctx, func(tx *vfs.Tx) error { return (*tree.Tx)(tx).Record("note", path, "") }), syscall.EINVAL, path)
	}
}

// What fails, or is rolled back, is not recorded.
func TestNothingRecordedOfFailures(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "d/x")
	before := vfstest.Log(t, fsys, nil)
	require.Error(t, fsys.Remove(ctx, "d"))
	require.Error(t, fsys.Rename(ctx, "none", "b"))
	require.Error(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		require.NoError(t, tx.WriteFile("b", nil, 0o644))
		return errors.New("no")
	}))
	require.Equal(t, before, vfstest.Log(t, fsys, nil))
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		_ = tx.Remove("d")
		return tx.Remove("a")
	}))
	require.Equal(t, append(before, "remove a "+vfstest.Content(sumOf("a"))+"-> -1"), vfstest.Log(t, fsys, nil))
}

func sumOf(content string) *vfs.Sum {
	sum := vfs.SumOf([]byte(content))
	return &sum
}

// An open file records each commit, under the name that it has then; without a name it is no part of the tree.
func TestFileIsRecorded(t *testing.T) {
	ctx := t.Context()
	whole := vfstest.New(t, "jail/")
	fsys, err := whole.OpenRoot(ctx, "jail")
	require.NoError(t, err)
	since, err := fsys.Seq(ctx)
	require.NoError(t, err)
	f, err := fsys.Create(ctx, "f")
	require.NoError(t, err)
	write := func(text string) {
		_, err := f.Write([]byte(text))
		require.NoError(t, err)
	}
	write("on")
	write("e")
	require.NoError(t, f.Sync())
	require.NoError(t, f.Sync())
	require.NoError(t, fsys.Rename(ctx, "f", "g"))
	write("three")
	require.NoError(t, f.Sync())
	require.NoError(t, f.Truncate(2))
	require.NoError(t, f.Sync())
	require.NoError(t, fsys.Remove(ctx, "g"))
	_, err = f.WriteAt([]byte("gone"), 0)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	_, err = fsys.WriteFrom(ctx, "h", strings.NewReader("one"), 0o644)
	require.NoError(t, err)
	h, err := fsys.OpenFile(ctx, "h", os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = h.Write([]byte("three"))
	require.NoError(t, err)
	require.NoError(t, h.Close())
	h, err = fsys.Create(ctx, "h")
	require.NoError(t, err)
	require.NoError(t, h.Close())
	require.Equal(t, []string{
		"create jail/f ->''", "write jail/f ''->'one' +3", "rename jail/g (jail/f)", "write jail/g 'one'->'onethree' +5",
		"truncate jail/g 'onethree'->'on' -6", "remove jail/g 'on'-> -2", "create jail/h ->'one' +3",
		"append jail/h 'one'->'onethree' +5", "truncate jail/h 'onethree'->'' -8",
	}, vfstest.Log(t, fsys, &vfs.LogOptions{Since: since}))
}

// The contents that the log names are those that there were, whatever happens in whatever order.
func TestSumsOfLogAreExact(t *testing.T) {
	ctx := t.Context()
	random := rand.New(rand.NewPCG(1, 2))
	fsys := vfstest.New(t)
	other := vfstest.Open(t, fsys.Name(), &vfs.Options{Relaxed: true})
	names := []string{"a", "b", "c"}
	for i := range 300 {
		door := []*vfs.FS{fsys, other}[random.IntN(2)]
		name, to := names[random.IntN(3)], names[random.IntN(3)]
		_ = door.Update(ctx, func(tx *vfs.Tx) error {
			var err error
			for range 1 + random.IntN(2) {
				switch random.IntN(7) {
				case 0, 1, 2:
					err = tx.WriteFile(name, fmt.Append(nil, i/2), 0o644)
				case 3:
					err = tx.Append(name, []byte("x"), 0o644)
				case 4:
					err = tx.Rename(name, to)
				case 5:
					err = tx.Copy(name, to)
				default:
					err = tx.Remove(name)
				}
			}
			if random.IntN(5) == 0 {
				return errors.New("rolled back")
			}
			return err
		})
	}
	events, err := fsys.Log(ctx, nil)
	require.NoError(t, err)
	now := make(map[string]*vfs.Sum) // what a reader of the log alone knows of each path
	for _, e := range events {
		if e.Op == "rename" {
			if e.Before != nil {
				require.Equal(t, now[e.Path], e.Before, vfstest.Line(e))
				require.Equal(t, now[e.Arg], e.After, vfstest.Line(e))
			}
			now[e.Path] = now[e.Arg]
			delete(now, e.Arg)
			continue
		}
		require.Equal(t, now[e.Path], e.Before, "%d %s", e.Seq, vfstest.Line(e))
		if now[e.Path] = e.After; e.After == nil {
			delete(now, e.Path)
		}
	}
	for name, sum := range now {
		is, err := fsys.Sum(ctx, name)
		require.NoError(t, err)
		require.Equal(t, *sum, is)
	}
}
