package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
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

func TestRefusedError(t *testing.T) {
	one := &RefusedError{[]Refusal{{Path: "a\nb", Why: "because"}}}
	require.Equal(t, `"a\nb" is refused: because`, one.Error())
	many := &RefusedError{}
	for n := range 13 {
		many.Refused = append(many.Refused, Refusal{Path: fmt.Sprint(n), Why: "because", err: syscall.ELOOP})
	}
	require.Equal(t, maxNamed+2, len(strings.Split(many.Error(), "\n")))
	require.Contains(t, many.Error(), "13 entries")
	require.Contains(t, many.Error(), "and 3 more")
	require.ErrorIs(t, many, syscall.ELOOP)
	require.False(t, errors.Is(many, syscall.EIO))
}

// A refusal says why, in our words where we have some, and the path only once.
func TestReason(t *testing.T) {
	inner := fmt.Errorf("a name with ..: %w", syscall.EINVAL)
	for _, err := range []error{inner, &fs.PathError{Op: "open", Path: "x", Err: inner}, &os.LinkError{Op: "link", Old: "x", New: "y", Err: inner}} {
		require.Equal(t, "a name with ..: "+syscall.EINVAL.Error(), reason(err))
	}
	require.Equal(t, syscall.EACCES.Error(), reason(&fs.PathError{Op: "open", Path: "x", Err: os.NewSyscallError("openat", syscall.EACCES)}))
}

// A Progress that panics does so where the caller can recover from it, and so does a writer of an archive. The store and
// the process go on, and nothing of an import is left to be seen.
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
