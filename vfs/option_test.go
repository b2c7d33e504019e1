package vfs_test

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// Preconditions: the error of a stale one has the present sum.
func TestPreconditions(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	sum, err := fsys.Sum(ctx, "f")
	require.NoError(t, err)
	require.NoError(t, fsys.WriteFile(ctx, "f", []byte("second"), 0o644, vfs.IfSum(sum)))
	now, err := fsys.Sum(ctx, "f")
	require.NoError(t, err)
	for name, err := range map[string]error{
		"write":    fsys.WriteFile(ctx, "f", []byte("third"), 0o644, vfs.IfSum(sum)),
		"append":   fsys.Append(ctx, "f", []byte("third"), 0o644, vfs.IfSum(sum)),
		"truncate": fsys.Truncate(ctx, "f", 1, vfs.IfSum(sum)),
		"remove":   fsys.Remove(ctx, "f", vfs.IfSum(sum)),
		"all":      fsys.RemoveAll(ctx, "f", vfs.IfSum(sum)),
		"rename":   fsys.Rename(ctx, "f", "g", vfs.IfSum(sum)),
		"copy":     fsys.Copy(ctx, "f", "g", vfs.IfSum(sum)),
		"chmod":    fsys.Chmod(ctx, "f", 0o600, vfs.IfSum(sum)),
		"chtimes":  fsys.Chtimes(ctx, "f", time.Time{}, time.Now(), vfs.IfSum(sum)),
		"link":     fsys.Link(ctx, "f", "g", vfs.IfSum(sum)),
		"edit":     editErr(fsys.Edit(ctx, "f", []vfs.Edit{{Old: "s", New: "t"}}, vfs.IfSum(sum))),
	} {
		var stale *vfs.StaleError
		require.ErrorAs(t, err, &stale, name)
		require.Equal(t, now, stale.Sum, name)
		require.ErrorIs(t, err, syscall.ESTALE, name)
	}
	require.Equal(t, "second", vfstest.Read(t, fsys, "f"))
}

// A file that is gone is stale too, for every verb, be it alone or with the directory that it was in.
func TestIfSumOfWhatIsGone(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "there")
	sum := vfs.SumOf([]byte("first"))
	for _, f := range []string{"none", "none/f"} {
		_, streamed := fsys.WriteFrom(ctx, f, strings.NewReader(""), 0o644, vfs.IfSum(sum))
		for name, err := range map[string]error{
			"write":    fsys.WriteFile(ctx, f, nil, 0o644, vfs.IfSum(sum)),
			"parents":  fsys.WriteFile(ctx, f, nil, 0o644, vfs.IfSum(sum), vfs.Parents()),
			"stream":   streamed,
			"append":   fsys.Append(ctx, f, nil, 0o644, vfs.IfSum(sum)),
			"truncate": fsys.Truncate(ctx, f, 1, vfs.IfSum(sum)),
			"remove":   fsys.Remove(ctx, f, vfs.IfSum(sum)),
			"all":      fsys.RemoveAll(ctx, f, vfs.IfSum(sum)),
			"rename":   fsys.Rename(ctx, f, "g", vfs.IfSum(sum)),
			"copy":     fsys.Copy(ctx, f, "g", vfs.IfSum(sum)),
			"chmod":    fsys.Chmod(ctx, f, 0o600, vfs.IfSum(sum)),
			"chtimes":  fsys.Chtimes(ctx, f, time.Time{}, time.Now(), vfs.IfSum(sum)),
			"link":     fsys.Link(ctx, f, "g", vfs.IfSum(sum)),
			"edit":     editErr(fsys.Edit(ctx, f, []vfs.Edit{{Old: "s", New: "t"}}, vfs.IfSum(sum))),
		} {
			var stale *vfs.StaleError
			require.ErrorAs(t, err, &stale, name)
			require.False(t, stale.Exists, name)
			require.ErrorIs(t, err, syscall.ESTALE, name)
			require.ErrorIs(t, err, fs.ErrNotExist, name)
		}
	}
	require.Equal(t, []string{"there"}, vfstest.Names(t, fsys))
}

func editErr(_ int, err error) error { return err }

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
