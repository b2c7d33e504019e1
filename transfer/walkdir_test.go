package transfer

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/transfer/hostdir"
)

// openTop opens a directory of the host until the test ends.
func openTop(t *testing.T, dir string) *hostdir.Dir {
	t.Helper()
	top, err := hostdir.Top(dir)
	require.NoError(t, err)
	t.Cleanup(top.Done)
	return top
}

// A directory or a file that is swapped for a symlink, after the walk has seen it, is refused. Nothing outside is read.
func TestSwapIsRefused(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, "secret", "below/secret")
	swap := func(name, target string) {
		require.NoError(t, os.RemoveAll(name))
		require.NoError(t, os.Symlink(target, name))
	}
	for _, target := range []string{outside, "other"} {
		src := t.TempDir()
		write(t, src, "d/below/secret", "file", "file2 = file", "other/below/secret")
		fsys := vfstest.New(t)
		im, err := newImporter(t.Context(), fsys, "/", nil)
		require.NoError(t, err)
		defer im.close()
		top := openTop(t, src)
		w := &dirWalker{importer: im, top: top}

		require.ErrorContains(t, walkInto(w, "d", func() { swap(filepath.Join(src, "d"), target) }), "not a directory")
		require.Equal(t, []string{"d"}, paths(im.report.Refused))
		require.ErrorIs(t, im.report.Refused[0].err, syscall.ENOTDIR)

		swap(filepath.Join(src, "file"), filepath.Join(outside, "secret"))
		e := &entry{path: "file"}
		require.NoError(t, w.load(t.Context(), top, e, true))
		require.True(t, e.gone)
		_, err = w.open("d/below/secret")
		require.ErrorIs(t, err, syscall.ENOTDIR)
		again := &entry{path: "d/below/secret"}
		require.NoError(t, w.rereadFile(t.Context(), again))
		require.True(t, again.gone)
		require.Empty(t, im.pending)
	}
}

// walkInto lists the top of a walk, then does something, then enters a directory. It returns why that was refused.
func walkInto(w *dirWalker, base string, between func()) error {
	if _, err := w.top.List(); err != nil {
		return err
	}
	between()
	if err := w.sub(context.Background(), w.top, base, base, nil, false); err != nil {
		return err
	}
	return &RefusedError{w.report.Refused}
}

// A directory that was opened is read to its end, even if its name leads elsewhere by then.
func TestSwapBelowAnOpenDirectory(t *testing.T) {
	outside, src := t.TempDir(), t.TempDir()
	write(t, outside, "e/f/secret", "x")
	write(t, src, "d/e/f/own", "d/x")
	top := openTop(t, src)
	d, _, err := top.Sub("d")
	require.NoError(t, err)
	defer d.Done()
	require.NoError(t, os.Rename(filepath.Join(src, "d"), filepath.Join(src, "away")))
	require.NoError(t, os.Symlink(outside, filepath.Join(src, "d")))

	fsys := vfstest.New(t)
	im, err := newImporter(t.Context(), fsys, "/", nil)
	require.NoError(t, err)
	defer im.close()
	w := &dirWalker{importer: im, top: top}
	info, err := d.Self.Stat()
	require.NoError(t, err)
	require.NoError(t, w.work(t.Context(), func(ctx context.Context) error { return w.dir(ctx, d, "d", info, nil, false) }))
	var names []string
	for _, e := range im.pending {
		names = append(names, e.path)
	}
	for _, e := range w.late {
		names = append(names, e.path)
	}
	require.ElementsMatch(t, []string{"d", "d/e", "d/e/f", "d/e/f/own", "d/x"}, names)
}
