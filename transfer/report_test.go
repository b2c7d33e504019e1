package transfer

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
)

func TestProgress(t *testing.T) {
	src := t.TempDir()
	write(t, src, "a", "bb", "d/ccc")
	fsys := vfstest.New(t)
	var last Progress
	calls := 0
	tell := func(p Progress) { last, calls = p, calls+1 }
	_, err := ImportDir(t.Context(), fsys, src, "/", &ImportOptions{Progress: tell})
	require.NoError(t, err)
	require.Equal(t, 3, calls)
	require.EqualValues(t, 3, last.Files)
	require.EqualValues(t, len("a")+len("bb")+len("d/ccc"), last.Bytes)
	calls = 0
	_, err = ExportDir(t.Context(), fsys, "/", t.TempDir(), &ExportOptions{Progress: tell})
	require.NoError(t, err)
	require.Equal(t, 3, calls)
	require.EqualValues(t, 3, last.Files)
}

// A Progress that panics does so where the caller can recover from it, and so does a writer of an archive. The store
// and the process go on, and nothing of an import is left to be seen.
func TestCallbackPanics(t *testing.T) {
	ctx := t.Context()
	full, empty := vfstest.New(t), vfstest.New(t)
	source := t.TempDir()
	write(t, source, "a", "b", "c", "d/e", "d/f")
	_, err := ImportDir(ctx, full, source, "/", nil)
	require.NoError(t, err)
	vfstest.Write(t, full, "large", string(noise(3, 2<<20)))
	var tarred, zipped bytes.Buffer
	_, err = ExportTar(ctx, full, "/", &tarred, nil)
	require.NoError(t, err)
	_, err = ExportZip(ctx, full, "/", &zipped, nil)
	require.NoError(t, err)

	calls := 0
	progress := func(p Progress) {
		if calls++; p.Files == 2 {
			panic("in Progress")
		}
	}
	in, out := &ImportOptions{Progress: progress}, &ExportOptions{Progress: progress}
	writer := writerFunc(func([]byte) (int, error) { panic("in Write") })
	for name, call := range map[string]func(context.Context) (*Report, error){
		"import dir": func(ctx context.Context) (*Report, error) { return ImportDir(ctx, empty, source, "/", in) },
		"import tar": func(ctx context.Context) (*Report, error) {
			return ImportTar(ctx, empty, bytes.NewReader(tarred.Bytes()), "/", in)
		},
		"import zip": func(ctx context.Context) (*Report, error) {
			return ImportZip(ctx, empty, bytes.NewReader(zipped.Bytes()), int64(zipped.Len()), "/", in)
		},
		"export dir":        func(ctx context.Context) (*Report, error) { return ExportDir(ctx, full, "/", t.TempDir(), out) },
		"export tar":        func(ctx context.Context) (*Report, error) { return ExportTar(ctx, full, "/", io.Discard, out) },
		"export zip":        func(ctx context.Context) (*Report, error) { return ExportZip(ctx, full, "/", io.Discard, out) },
		"export to a panic": func(ctx context.Context) (*Report, error) { return ExportTar(ctx, full, "/", writer, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			require.Panics(t, func() { _, _ = call(t.Context()) })
		})
	}
	require.NotZero(t, calls)
	require.Empty(t, vfstest.Names(t, empty))
	_, err = ImportDir(ctx, empty, source, "/", nil)
	require.NoError(t, err)
}
