package schema_test

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// asNobody runs fn without the rights of root, if the tests have them: root may write to any directory.
func asNobody(t *testing.T, fn func()) {
	if os.Getuid() != 0 {
		fn()
		return
	}
	const nobody = 65534
	for dir := t.TempDir(); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
	runtime.LockOSThread() // the rights are of the thread
	defer runtime.UnlockOSThread()
	require.NoError(t, syscall.Setfsuid(nobody))
	defer func() { require.NoError(t, syscall.Setfsuid(0)) }()
	fn()
}

// sealed makes a store in a directory that cannot be written, and returns its path and what opens the directory again.
func sealed(t *testing.T) (path string, unseal func()) {
	dir := filepath.Join(t.TempDir(), "media")
	require.NoError(t, os.Mkdir(dir, 0o755))
	path = filepath.Join(dir, "100% of x?.db")
	db := opened(t, path)
	require.NoError(t, note(t, db, "note 1"))
	require.NoError(t, db.Close())
	require.NoError(t, os.Chmod(path, 0o644))
	require.NoError(t, os.Chmod(dir, 0o555))
	unseal = func() { require.NoError(t, os.Chmod(dir, 0o755)) }
	t.Cleanup(unseal)
	return path, unseal
}

// A store in a directory that cannot be written can be read; opening it to write is an error that names the reason.
func TestUnwritableDirectory(t *testing.T) {
	path, _ := sealed(t)
	asNobody(t, func() {
		_, err := schema.Open(t.Context(), path, schema.Options{MustExist: true})
		require.ErrorIs(t, err, syscall.EACCES)
		require.ErrorContains(t, err, "only be opened to read")

		db, err := schema.Open(t.Context(), path, schema.Options{ReadOnly: true})
		require.NoError(t, err)
		require.Equal(t, []string{"note 1"}, notes(t, db))
		require.NoError(t, db.Close())
	})
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// With a log, or a journal, that cannot be read with it, a store is not read: commits would be missing, or half there.
func TestUnwritableDirectoryWithLog(t *testing.T) {
	for _, suffix := range []string{"-wal", "-journal"} {
		path, unseal := sealed(t)
		unseal()
		require.NoError(t, os.WriteFile(path+suffix, make([]byte, 100), 0o644))
		require.NoError(t, os.Chmod(filepath.Dir(path), 0o555))
		asNobody(t, func() {
			_, err := schema.Open(t.Context(), path, schema.Options{ReadOnly: true})
			require.ErrorIs(t, err, syscall.EACCES)
			require.ErrorContains(t, err, suffix+" is beside it")
		})
	}
}

// Where others can write after all, as through another mount, no read sees their changes.
func TestWrittenFromElsewhere(t *testing.T) {
	path, unseal := sealed(t)
	var reader *schema.DB
	asNobody(t, func() {
		var err error
		reader, err = schema.Open(t.Context(), path, schema.Options{ReadOnly: true})
		require.NoError(t, err)
		require.Equal(t, []string{"note 1"}, notes(t, reader))
	})
	defer func() { require.NoError(t, reader.Close()) }()
	unseal()
	look := func() error { return reader.View(t.Context(), func(*schema.Tx) error { return nil }) }
	require.NoError(t, look())
	require.ErrorIs(t, reader.View(t.Context(), func(*schema.Tx) error {
		return os.WriteFile(path+"-wal", []byte("x"), 0o644)
	}), syscall.ESTALE)
	require.ErrorIs(t, look(), syscall.ESTALE)
	require.NoError(t, os.Remove(path+"-wal"))
	require.NoError(t, look())
	require.NoError(t, os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)))
	require.ErrorIs(t, look(), syscall.ESTALE)
}
