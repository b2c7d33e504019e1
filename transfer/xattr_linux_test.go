package transfer

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
	"vfsdb/node"
	"vfsdb/snapshot"
	"vfsdb/vfs"
	"vfsdb/xattr"
)

// setHost sets an attribute of a file of the host, or skips the test if its file system has no place for it.
func setHost(t *testing.T, dir, name, attr, value string) {
	t.Helper()
	err := unix.Lsetxattr(filepath.Join(dir, name), attr, []byte(value), 0)
	if err == unix.ENOTSUP || err == unix.EPERM && !strings.HasPrefix(attr, "user.") {
		t.Skipf("the temporary directory keeps no attribute %s; as root, ext4 and xfs do", attr)
	}
	require.NoError(t, err)
}

// attrsOf returns the attributes of a file of a store.
func attrsOf(t *testing.T, fsys *vfs.FS, name string) map[string]string {
	t.Helper()
	info, err := fsys.Stat(t.Context(), name)
	require.NoError(t, err)
	return maps.Collect(node.NodeOf(info).Xattrs.All())
}

// Extended attributes of users go in, out and in again, of files, directories, hard links and read-only files.
func TestXattrs(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	write(t, dir, "a", "b", "d/c", "plain", "l -> a")
	setHost(t, dir, "a", "user.one", "1\x00\xff")
	setHost(t, dir, "a", "user.two", "")
	setHost(t, dir, "b", "user.one", "b")
	setHost(t, dir, "d", "user.one", "d")
	setHost(t, dir, ".", "user.top", "top")
	require.NoError(t, os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "d/hard")))
	require.NoError(t, os.Chmod(filepath.Join(dir, "b"), 0o400))

	fsys := vfstest.New(t)
	report, err := ImportDir(ctx, fsys, dir, "/", nil)
	require.NoError(t, err)
	require.Empty(t, report.Xattrs)
	for name, want := range map[string]map[string]string{
		"a": {"user.one": "1\x00\xff", "user.two": ""}, "d/hard": {"user.one": "1\x00\xff", "user.two": ""},
		"b": {"user.one": "b"}, "d": {"user.one": "d"}, ".": {"user.top": "top"}, "plain": {},
	} {
		require.Equal(t, want, attrsOf(t, fsys, name), name)
	}

	out := filepath.Join(t.TempDir(), "out")
	report, err = ExportDir(ctx, fsys, "/", out, nil)
	require.NoError(t, err)
	require.Empty(t, report.Xattrs)
	again := vfstest.New(t)
	_, err = ImportDir(ctx, again, out, "/", nil)
	require.NoError(t, err)
	require.Equal(t, vfstest.Dump(t, fsys), vfstest.Dump(t, again))
}

// An import that reads no content again finds attributes that have changed, and with Delete those that are gone. A dry run
// lists such files, and an import that finds no difference records nothing.
func TestXattrsAgain(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	write(t, dir, "a", "b", "d/c")
	setHost(t, dir, "a", "user.one", "1")
	setHost(t, dir, "d", "user.one", "1")
	fsys := vfstest.New(t)
	again := func(o *ImportOptions) (list []string, report *Report) {
		plan, err := ImportDir(ctx, fsys, dir, "/", &ImportOptions{Delete: o.Delete, DryRun: true})
		require.NoError(t, err)
		since, err := fsys.Seq(ctx)
		require.NoError(t, err)
		report, err = ImportDir(ctx, fsys, dir, "/", o)
		require.NoError(t, err)
		events, err := fsys.Log(ctx, &vfs.LogOptions{Since: since})
		require.NoError(t, err)
		for _, e := range events {
			list = append(list, string(e.Op)+" "+e.Path)
		}
		var planned []string
		for _, c := range plan.Plan {
			if c.Kind == snapshot.Mode {
				planned = append(planned, "setattr "+c.Path)
			}
		}
		require.ElementsMatch(t, planned, list)
		return list, report
	}
	_, err := ImportDir(ctx, fsys, dir, "/", nil)
	require.NoError(t, err)
	list, report := again(&ImportOptions{})
	require.Empty(t, list)
	require.EqualValues(t, 3, report.Unread)

	setHost(t, dir, "a", "user.one", "2")
	setHost(t, dir, "b", "user.new", "3")
	list, report = again(&ImportOptions{})
	require.ElementsMatch(t, []string{"setattr a", "setattr b"}, list)
	require.EqualValues(t, 3, report.Unread)
	require.Equal(t, map[string]string{"user.one": "2"}, attrsOf(t, fsys, "a"))
	require.Equal(t, map[string]string{"user.new": "3"}, attrsOf(t, fsys, "b"))

	// What only the store has stays, until Delete.
	require.NoError(t, unix.Removexattr(filepath.Join(dir, "a"), "user.one"))
	require.NoError(t, unix.Removexattr(filepath.Join(dir, "d"), "user.one"))
	require.NoError(t, xattr.Set(ctx, fsys, "b", xattr.Follow, "user.own", []byte("4"), 0))
	list, _ = again(&ImportOptions{})
	require.Empty(t, list)
	require.Equal(t, map[string]string{"user.new": "3", "user.own": "4"}, attrsOf(t, fsys, "b"))
	list, _ = again(&ImportOptions{Delete: true})
	require.ElementsMatch(t, []string{"setattr a", "setattr b", "setattr d"}, list)
	require.Empty(t, attrsOf(t, fsys, "a"))
	require.Empty(t, attrsOf(t, fsys, "d"))
	require.Equal(t, map[string]string{"user.new": "3"}, attrsOf(t, fsys, "b"))
}

// Attributes of other namespaces are left out, and the report says which, and of how many files.
func TestXattrsLeftOut(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a", "b", "l -> a")
	setHost(t, dir, "a", "user.one", "1")
	setHost(t, dir, "a", "trusted.one", "1")
	setHost(t, dir, "b", "trusted.one", "1")
	setHost(t, dir, "l", "trusted.two", "1")
	fsys := vfstest.New(t)
	for range 2 { // also of files that are not read again
		report, err := ImportDir(t.Context(), fsys, dir, "/", nil)
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"trusted.one": 2, "trusted.two": 1}, report.Xattrs)
		require.Equal(t, map[string]string{"user.one": "1"}, attrsOf(t, fsys, "a"))
	}
}

// An export to a file system that has no place for an attribute succeeds, and reports it.
func TestXattrsWithoutPlace(t *testing.T) {
	fsys := vfstest.New(t, "f")
	require.NoError(t, xattr.Set(t.Context(), fsys, "f", xattr.Follow, "user.long", make([]byte, 60000), 0))
	dir := t.TempDir()
	report, err := ExportDir(t.Context(), fsys, "/", dir, nil)
	require.NoError(t, err)
	size, err := unix.Getxattr(filepath.Join(dir, "f"), "user.long", nil)
	if err == nil {
		require.Equal(t, 60000, size)
		require.Empty(t, report.Xattrs)
		return
	}
	require.Equal(t, map[string]int64{"user.long": 1}, report.Xattrs) // as of ext4, which has 4 KiB
}

// A file whose attributes cannot be listed is refused, unless it can have none, or is refused anyhow when it is read.
func TestXattrsThatCannotBeListed(t *testing.T) {
	im, err := newImporter(t.Context(), vfstest.New(t), "/", nil)
	require.NoError(t, err)
	defer im.close()
	w := &dirWalker{importer: im, top: openTop(t, t.TempDir())}

	require.Nil(t, w.hostXattrs(w.top, "missing", "missing", attr{mode: 0o644}))
	require.Nil(t, w.hostXattrs(w.top, "fifo\x00", "fifo", attr{mode: os.ModeNamedPipe | 0o644}))
	require.Empty(t, im.report.Refused)
	require.Nil(t, w.hostXattrs(w.top, "file\x00", "file", attr{mode: 0o644}))
	require.Equal(t, []string{"file"}, paths(im.report.Refused))
	require.Equal(t, "its extended attributes: invalid argument", im.report.Refused[0].Why)
	require.ErrorIs(t, im.report.Refused[0].err, unix.EINVAL)
}
