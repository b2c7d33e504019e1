package transfer

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// TestImportAgain shows that a file which is as it should be is not touched, and others are brought up to date.
func TestImportAgain(t *testing.T) {
	src := t.TempDir()
	write(t, src, "same", "changed", "mode", "d/in", "kind", "l -> same", "l2 -> same")
	fsys := vfstest.New(t)
	_, err := ImportDir(t.Context(), fsys, src, "/", nil)
	require.NoError(t, err)
	inos := func() map[string]string {
		all := make(map[string]string)
		for _, name := range []string{"same", "changed", "mode", "d", "d/in", "l", "l2", "kind"} {
			info, err := fsys.Lstat(t.Context(), name)
			require.NoError(t, err)
			all[name] = fmt.Sprint(info.Ino(), info.ChangeTime().UnixNano())
		}
		return all
	}
	before := inos()
	_, err = ImportDir(t.Context(), fsys, src, "/", nil)
	require.NoError(t, err)
	require.Equal(t, before, inos())

	require.NoError(t, os.WriteFile(filepath.Join(src, "changed"), []byte("news"), 0o644))
	require.NoError(t, os.Chmod(filepath.Join(src, "mode"), 0o400))
	for _, name := range []string{"l2", "kind"} {
		require.NoError(t, os.Remove(filepath.Join(src, name)))
	}
	write(t, src, "l2 -> elsewhere", "kind -> same")
	_, err = ImportDir(t.Context(), fsys, src, "/", nil)
	require.NoError(t, err)
	after := inos()
	for _, name := range []string{"changed", "mode", "l2", "kind"} {
		require.NotEqual(t, before[name], after[name], name)
		delete(before, name)
		delete(after, name)
	}
	require.Equal(t, before, after)
	require.Equal(t, "news", vfstest.Read(t, fsys, "changed"))
}

// TestLinksPart shows that files which were one in the store and are two outside become two.
func TestLinksPart(t *testing.T) {
	fsys := vfstest.New(t, "a")
	require.NoError(t, fsys.Link(t.Context(), "a", "b"))
	require.NoError(t, fsys.Link(t.Context(), "a", "c"))
	src := t.TempDir()
	write(t, src, "a", "b", "new = b")
	_, err := ImportDir(t.Context(), fsys, src, "/", nil)
	require.NoError(t, err)
	for name, want := range map[string]string{"a": "a", "b": "b", "new": "b", "c": "a"} {
		require.Equal(t, want, vfstest.Read(t, fsys, name), name)
	}
	b, err := fsys.Stat(t.Context(), "b")
	require.NoError(t, err)
	require.Equal(t, 2, b.Nlink())
}

// TestInTheWay has files where an import wants to make names. Nothing changes, and the error names them; with Partial
// the others go in.
func TestInTheWay(t *testing.T) {
	for _, tt := range []struct {
		name    string
		store   []string // " -> " is a symlink
		host    []string
		refused []string
		why     error
	}{
		{"a file where a directory goes", []string{"d"}, []string{"d/x", "ok"}, []string{"d", "d/x"}, syscall.ENOTDIR},
		{"a directory where a file goes", []string{"f/x"}, []string{"f", "ok"}, []string{"f"}, syscall.EISDIR},
		{"a directory where a symlink goes", []string{"f/x"}, []string{"f -> ok", "ok"}, []string{"f"}, syscall.EISDIR},
		{"a symlink where a directory goes", []string{"e/", "d -> e"}, []string{"d/x", "ok"}, []string{"d", "d/x"}, syscall.ENOTDIR},
		{"a symlink out of the destination", []string{"d -> /"}, []string{"d/x", "ok"}, []string{"d", "d/x"}, syscall.ENOTDIR},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t)
			for _, name := range tt.store {
				if link, target, ok := strings.Cut(name, " -> "); ok {
					require.NoError(t, fsys.Symlink(t.Context(), target, "to/"+link, vfs.Parents()))
				} else if dir, ok := strings.CutSuffix(name, "/"); ok {
					require.NoError(t, fsys.MkdirAll(t.Context(), "to/"+dir, 0o755))
				} else {
					require.NoError(t, fsys.WriteFile(t.Context(), "to/"+name, nil, 0o644, vfs.Parents()))
				}
			}
			src := t.TempDir()
			write(t, src, tt.host...)
			before := vfstest.Dump(t, fsys)

			report, err := ImportDir(t.Context(), fsys, src, "to", nil)
			require.ErrorIs(t, err, tt.why)
			require.Nil(t, report)
			var refused *RefusedError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, tt.refused, paths(refused.Refused))
			require.ErrorContains(t, err, fmt.Sprintf("%q", tt.refused[0]))
			require.Equal(t, before, vfstest.Dump(t, fsys))

			report, err = ImportDir(t.Context(), fsys, src, "to", &ImportOptions{Partial: true})
			require.NoError(t, err)
			require.Equal(t, tt.refused, paths(report.Refused))
			require.EqualValues(t, 1, report.Files)
			require.Equal(t, "ok", vfstest.Read(t, fsys, "to/ok"))
			_, err = fsys.Lstat(t.Context(), "x")
			require.ErrorIs(t, err, fs.ErrNotExist)
		})
	}
}

func paths(list []Refusal) []string {
	var all []string
	for _, r := range list {
		all = append(all, r.Path)
	}
	return all
}

func TestImportRefusesASource(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file")
	fsys := vfstest.New(t)
	for _, tt := range []struct {
		name, src string
		o         *ImportOptions
		want      error
	}{
		{"nothing", filepath.Join(dir, "none"), nil, fs.ErrNotExist},
		{"a file", filepath.Join(dir, "file"), nil, syscall.ENOTDIR},
		{"a bad pattern", dir, &ImportOptions{Exclude: []string{"[a"}}, syscall.EINVAL},
		{"a file too large", dir, &ImportOptions{MaxFileSize: 3}, syscall.EFBIG},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ImportDir(t.Context(), fsys, tt.src, "/", tt.o)
			require.ErrorIs(t, err, tt.want)
			require.Empty(t, vfstest.Names(t, fsys))
		})
	}
	snap := vfstest.Snapshot(t, fsys, "s")
	_, err := ImportDir(t.Context(), snap.FS, dir, "/", nil)
	require.ErrorIs(t, err, syscall.EROFS)
}

// TestCancelledImport ends an import after some of its files: nothing of it is there.
func TestCancelledImport(t *testing.T) {
	src := t.TempDir()
	for n := range 60 {
		require.NoError(t, os.WriteFile(filepath.Join(src, fmt.Sprint(n)), noise(byte(n), 300_000), 0o644))
	}
	for _, at := range []int64{1, 20, 60} {
		fsys := vfstest.New(t, "before")
		before := vfstest.Dump(t, fsys)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := ImportDir(ctx, fsys, src, "/", &ImportOptions{Progress: func(p Progress) {
			if p.Files == at {
				cancel()
			}
		}})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, before, vfstest.Dump(t, fsys))
	}
}
