package transfer

import (
	"archive/tar"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// naming runs fn with a namer of the whole tree.
func naming(t *testing.T, fsys *vfs.FS, fn func(n *namer) error) error {
	t.Helper()
	return fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		n := &namer{to: "/"}
		if err := n.begin(tx); err != nil {
			return err
		}
		return fn(n)
	})
}

// stage stores contents in a batch of their own.
func stage(t *testing.T, fsys *vfs.FS, contents ...string) (items []*chunk.Item) {
	t.Helper()
	batch := (*tree.Tree)(fsys).NewBatch(context.WithoutCancel(t.Context()))
	t.Cleanup(func() { require.NoError(t, batch.Close()) })
	for _, content := range contents {
		item, err := batch.Add(t.Context(), strings.NewReader(content))
		require.NoError(t, err)
		items = append(items, item)
	}
	require.NoError(t, batch.Flush())
	return items
}

// putAt gives a path whose directory must exist a content and attributes.
func (n *namer) putAt(name string, data *chunk.Item, a attr) error {
	p, err := n.at(name, false)
	if err != nil {
		return err
	}
	return n.put(&entry{data: data, attr: a}, p)
}

// setAttrAt sets the attributes of the file at a path.
func (n *namer) setAttrAt(name string, a attr) error {
	p, err := n.at(name, false)
	if err != nil {
		return err
	}
	return n.setAttr(p, a)
}

func TestPut(t *testing.T) {
	a := attr{mode: fs.ModeSetuid | 0o751, uid: 7, gid: 8}
	for _, tt := range []struct {
		name, path string
		want       error
		keepsIno   bool
	}{
		{"a new file", "new", nil, false},
		{"a file", "file", nil, true},
		{"a file with two names", "one", nil, false},
		{"a symlink", "link", nil, false},
		{"a fifo", "fifo", nil, false},
		{"a directory", "dir", syscall.EISDIR, true},
		{"the root", "", syscall.EISDIR, true},
		{"no parent", "none/x", syscall.ENOENT, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t, "file", "one", "dir/x")
			require.NoError(t, fsys.Link(t.Context(), "one", "two"))
			require.NoError(t, fsys.Symlink(t.Context(), "file", "link"))
			require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error { return tx.Mknod("fifo", fs.ModeNamedPipe|0o600, 0) }))
			content := stage(t, fsys, "content")[0]
			put := func() error { return naming(t, fsys, func(n *namer) error { return n.putAt(tt.path, content, a) }) }
			before, _ := fsys.Lstat(t.Context(), tt.path)
			dump := vfstest.Dump(t, fsys)

			require.ErrorIs(t, put(), tt.want)
			if tt.want != nil {
				require.Equal(t, dump, vfstest.Dump(t, fsys))
				return
			}
			info, err := fsys.Lstat(t.Context(), tt.path)
			require.NoError(t, err)
			require.Equal(t, a.mode, info.Mode())
			require.Equal(t, time.Unix(0, a.mtime), info.ModTime())
			uid, gid := info.Owner()
			require.Equal(t, []int{7, 8}, []int{uid, gid})
			require.Equal(t, "content", vfstest.Read(t, fsys, tt.path))
			require.Equal(t, tt.keepsIno, before != nil && before.Ino() == info.Ino())
			require.Equal(t, "one", vfstest.Read(t, fsys, "two"))
			if tt.path != "file" {
				require.Equal(t, "file", vfstest.Read(t, fsys, "file"))
			}

			time.Sleep(time.Millisecond)
			require.NoError(t, put())
			again, err := fsys.Lstat(t.Context(), tt.path)
			require.NoError(t, err)
			require.Equal(t, info.ChangeTime(), again.ChangeTime(), "a file that is the same already is not touched")
		})
	}
}

// A content that is staged in one store is none of another, whatever that has under the same numbers.
func TestPutOfAnotherStore(t *testing.T) {
	fsys, other := vfstest.New(t, "a"), vfstest.New(t, "a", "b", "c")
	f, err := fsys.OpenFile(t.Context(), "a", os.O_RDWR, 0) // so that it has a lease too
	require.NoError(t, err)
	defer f.Close()
	content := stage(t, other, "content")[0]
	require.ErrorIs(t, naming(t, fsys, func(n *namer) error { return n.putAt("f", content, attr{}) }), syscall.EXDEV)
}

func TestSetAttr(t *testing.T) {
	fsys := vfstest.New(t, "f", "d/")
	require.NoError(t, fsys.Symlink(t.Context(), "f", "l"))
	a := attr{mode: fs.ModeSticky | 0o711, uid: 1, gid: 2, mtime: time.Unix(3, 4).UnixNano()}
	since, err := fsys.Seq(t.Context())
	require.NoError(t, err)
	for _, name := range []string{"d", "l", ""} {
		for range 2 {
			require.NoError(t, naming(t, fsys, func(n *namer) error { return n.setAttrAt(name, a) }))
		}
		info, err := fsys.Lstat(t.Context(), "/"+name)
		require.NoError(t, err)
		require.Equal(t, time.Unix(3, 4), info.ModTime())
		uid, gid := info.Owner()
		require.Equal(t, []int{1, 2}, []int{uid, gid})
		if name == "l" {
			require.Equal(t, fs.ModeSymlink|0o777, info.Mode())
		} else {
			require.Equal(t, fs.ModeDir|a.mode, info.Mode())
		}
	}
	require.ErrorIs(t, naming(t, fsys, func(n *namer) error { return n.setAttrAt("none", a) }), fs.ErrNotExist)
	require.Equal(t, []string{"setattr d", "setattr l", "setattr ."}, vfstest.Log(t, fsys, &vfs.LogOptions{Since: since}),
		"the same attributes again are no change")
}

// An import replaces writes of an open file that are not committed, and the File goes on with the new content.
func TestPutOverUncommitted(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	w, err := fsys.OpenFile(ctx, "f", os.O_RDWR, 0)
	require.NoError(t, err)
	defer w.Close()
	_, err = w.WriteAt([]byte("XY"), 2)
	require.NoError(t, err)

	content := stage(t, fsys, "put")[0]
	require.NoError(t, naming(t, fsys, func(n *namer) error { return n.putAt("f", content, attr{mode: 0o644}) }))
	held, err := io.ReadAll(io.NewSectionReader(w, 0, 100))
	require.NoError(t, err)
	require.Equal(t, "put", string(held))
	require.Equal(t, "put", vfstest.Read(t, fsys, "f"))

	_, err = w.WriteAt([]byte("L"), 0)
	require.NoError(t, err)
	require.NoError(t, w.Sync())
	require.Equal(t, "Lut", vfstest.Read(t, fsys, "f"))
}

// An import is recorded as what it does: a new file, another content, other attributes, or nothing.
func TestPutIsRecorded(t *testing.T) {
	fsys := vfstest.New(t)
	items := stage(t, fsys, "one", "three")
	one, three := items[0], items[1]
	a := attr{mode: 0o644, mtime: time.Unix(5, 0).UnixNano()}
	other := attr{mode: 0o600, mtime: time.Unix(5, 0).UnixNano()}
	require.NoError(t, naming(t, fsys, func(n *namer) error {
		tx := (*vfs.Tx)(n.tx)
		require.NoError(t, n.putAt("f", one, a))
		require.NoError(t, n.putAt("f", one, a))
		require.NoError(t, n.putAt("f", one, other))
		require.NoError(t, n.putAt("f", three, a))
		require.NoError(t, tx.Link("f", "g"))
		require.NoError(t, n.putAt("g", one, a))
		require.NoError(t, tx.Symlink("f", "link"))
		return n.putAt("link", one, a)
	}))
	require.Equal(t, []string{
		"create f ->'one' +3", "setattr f", "write f 'one'->'three' +2", "link g (f)", "write g 'three'->'one' +3",
		"symlink link (f)", "write link ->'one' +3",
	}, vfstest.Log(t, fsys, nil))
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		require.NoError(t, tx.WriteFile("d/x", []byte("one"), 0, vfs.Parents()))
		require.Error(t, tx.WriteFile("f/no", nil, 0, vfs.Parents()))
		return tx.WriteFile("y", nil, 0, vfs.Parents())
	}))
	require.Equal(t, []string{"mkdir d", "create d/x ->'one' +3", "create y ->''"}, vfstest.Log(t, fsys, nil)[7:])
}

func TestSetAttrIsRecorded(t *testing.T) {
	fsys := vfstest.New(t, "q/a")
	for _, want := range [][]string{{"setattr q/a"}, {}} {
		since, err := fsys.Seq(t.Context())
		require.NoError(t, err)
		require.NoError(t, naming(t, fsys, func(n *namer) error { return n.setAttrAt("q/a", attr{mode: 0o640}) }))
		require.Equal(t, want, vfstest.Log(t, fsys, &vfs.LogOptions{Since: since}))
	}
}

// The attributes of the source go to the directory that the destination leads to, not to a symlink on the way.
func TestImportThroughSymlink(t *testing.T) {
	fsys := vfstest.New(t, "d/")
	require.NoError(t, fsys.Symlink(t.Context(), "d", "to"))
	src := t.TempDir()
	write(t, src, "f")
	require.NoError(t, os.Chtimes(src, time.Time{}, time.Unix(1e9, 0)))
	since, err := fsys.Seq(t.Context())
	require.NoError(t, err)
	_, err = ImportDir(t.Context(), fsys, src, "to", nil)
	require.NoError(t, err)

	sum := vfs.SumOf([]byte("f"))
	d, err := fsys.Stat(t.Context(), "d")
	require.NoError(t, err)
	require.Equal(t, time.Unix(1e9, 0), d.ModTime())
	require.Equal(t, []string{"create d/f ->" + vfstest.Content(&sum) + " +1", "setattr d"}, vfstest.Log(t, fsys, &vfs.LogOptions{Since: since}))
}

// An import over a file that is open takes the writes before it along, and those after it stay.
func TestImportOverUncommitted(t *testing.T) {
	fsys := vfstest.New(t)
	vfstest.Write(t, fsys, "f", "abc")
	w, err := fsys.OpenFile(t.Context(), "f", os.O_RDWR, 0)
	require.NoError(t, err)
	r, err := fsys.Open(t.Context(), "f")
	require.NoError(t, err)
	defer r.Close()
	_, err = w.WriteAt([]byte("XY"), 2)
	require.NoError(t, err)

	src := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(src, "f"), []byte("put"), 0o644))
	_, err = ImportDir(t.Context(), fsys, src, "/", nil)
	require.NoError(t, err)
	content, err := io.ReadAll(io.NewSectionReader(r, 0, 100))
	require.NoError(t, err)
	require.Equal(t, "put", string(content))
	require.Equal(t, "put", vfstest.Read(t, fsys, "f"))

	_, err = w.WriteAt([]byte("later"), 0)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.Equal(t, "later", vfstest.Read(t, fsys, "f"))
}

// A path that is longer than the store reads is refused, be it that of a file or of a directory.
func TestTooLongInDestination(t *testing.T) {
	deep := strings.Repeat("d/", 2047)
	for _, m := range []member{{name: deep + "f"}, {name: deep + "d/", kind: tar.TypeDir}} {
		fsys := vfstest.New(t)
		_, err := ImportTar(t.Context(), fsys, archive(t, m), "to", nil)
		require.ErrorIs(t, err, syscall.ENAMETOOLONG)
		require.Empty(t, vfstest.Names(t, fsys))
	}
}
