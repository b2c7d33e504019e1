package transfer

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
)

// TestStoreInsideTheSource imports the directory that the store is in, and exports into it.
func TestStoreInsideTheSource(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file", "sub/")
	fsys := vfstest.Open(t, filepath.Join(dir, "store.db"), nil)
	vfstest.Write(t, fsys, "old", "old")
	if runtime.GOOS != "windows" {
		write(t, dir, "sub/alias = store.db")
	}
	report, err := ImportDir(t.Context(), fsys, dir, "/", nil)
	require.NoError(t, err)
	require.EqualValues(t, 1, report.Files)
	require.Equal(t, "file", vfstest.Read(t, fsys, "file"))
	_, err = fsys.Stat(t.Context(), "store.db")
	require.ErrorIs(t, err, fs.ErrNotExist)

	vfstest.Write(t, fsys, "store.db", "not a database")
	out, err := ExportDir(t.Context(), fsys, "/", dir, &ExportOptions{Overwrite: true})
	require.NoError(t, err)
	require.Equal(t, []string{"store.db"}, paths(out.Refused))
	data, err := os.ReadFile(filepath.Join(dir, "old"))
	require.NoError(t, err)
	require.Equal(t, "old", string(data))
}
