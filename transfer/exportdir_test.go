package transfer

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
)

func TestExportRefusesADestination(t *testing.T) {
	fsys := vfstest.New(t, "f", "d/g")
	dir := t.TempDir()
	write(t, dir, "file", "full/x")
	for _, tt := range []struct {
		name, from, dest string
		want             error
	}{
		{"not empty", "/", "full", syscall.ENOTEMPTY},
		{"a file", "/", "file", syscall.ENOTDIR},
		{"from nothing", "none", "new", fs.ErrNotExist},
		{"from a file", "f", "new", syscall.ENOTDIR},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := host(t, dir)
			_, err := ExportDir(t.Context(), fsys, tt.from, filepath.Join(dir, tt.dest), nil)
			require.ErrorIs(t, err, tt.want)
			require.Equal(t, before, host(t, dir))
		})
	}
}

func TestExportOverwrites(t *testing.T) {
	fsys := vfstest.New(t, "f", "d/g", "was-dir", "was-link", "is-dir/x", "link-dir/x")
	require.NoError(t, fsys.Symlink(t.Context(), "target", "l"))
	dir, outside := t.TempDir(), t.TempDir()
	write(t, outside, "x", "secret")
	write(t, dir, "other", "d/other", "was-dir/", "is-dir", "l", "was-link -> "+filepath.Join(outside, "secret"), "link-dir -> "+outside)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("something much longer"), 0o600))
	untouched := host(t, outside)

	report, err := ExportDir(t.Context(), fsys, "/", dir, &ExportOptions{Overwrite: true})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"was-dir", "is-dir", "link-dir"}, paths(report.Refused))
	for name, want := range map[string]string{"f": "f", "d/g": "d/g", "was-link": "was-link", "other": "other", "d/other": "d/other", "is-dir": "is-dir"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, want, string(data))
	}
	target, err := os.Readlink(filepath.Join(dir, "l"))
	require.NoError(t, err)
	require.Equal(t, "target", target)
	require.Equal(t, untouched, host(t, outside), "nothing is written through a symlink")
}

func TestCancelledExport(t *testing.T) {
	fsys := vfstest.New(t)
	for n := range 30 {
		vfstest.Write(t, fsys, fmt.Sprintf("d%d/f", n), "x")
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := ExportDir(ctx, fsys, "/", t.TempDir(), &ExportOptions{Progress: func(Progress) { cancel() }})
	require.ErrorIs(t, err, context.Canceled)
}

// TestExportNames exports names that a host may not be able to store: they are listed, and the rest goes out.
func TestExportNames(t *testing.T) {
	long := strings.Repeat("n", 255)
	fsys := vfstest.New(t, "ok", long, "\xff\xfe", "con:", "d/"+long+"/x")
	dir := t.TempDir()
	report, err := ExportDir(t.Context(), fsys, "/", dir, nil)
	require.NoError(t, err)
	if runtime.GOOS == "linux" {
		require.Empty(t, report.Refused)
	}
	data, err := os.ReadFile(filepath.Join(dir, "ok"))
	require.NoError(t, err)
	require.Equal(t, "ok", string(data))
}
