package schema_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// note commits a row of meta.
func note(t *testing.T, db *schema.DB, key string) error {
	return db.Update(t.Context(), func(tx *schema.Tx) error {
		_, err := tx.Exec(`INSERT INTO meta (key, value) VALUES (?, 1)`, key)
		return err
	})
}

// notes returns the keys that note has committed.
func notes(t *testing.T, db *schema.DB) (keys []string) {
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
		rows := tx.Query(`SELECT key FROM meta WHERE key LIKE 'note%' ORDER BY key`)
		for rows.Next() {
			keys = append(keys, rows.Text(0))
		}
		return rows.Err()
	}))
	return keys
}

// notesAt opens the file at path and closes it again.
func notesAt(t *testing.T, path string) []string {
	db, err := schema.Open(t.Context(), path, schema.Options{MustExist: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	return notes(t, db)
}

func opened(t *testing.T, path string) *schema.DB {
	db, err := schema.Open(t.Context(), path, schema.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// unixOnly skips where open files cannot be renamed and removed, so none of this can happen.
func unixOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files that are open cannot be renamed or removed here")
	}
}

// A file that was replaced while it is open takes no more commits. The new file at its path is not opened before the old
// one is closed, because the log beside it is the log of the old one. No acknowledged commit is lost.
func TestReplacedWhileOpen(t *testing.T) {
	unixOnly(t)
	dir := t.TempDir()
	path, other, kept := filepath.Join(dir, "x.db"), filepath.Join(dir, "other.db"), filepath.Join(dir, "kept.db")
	db := opened(t, other)
	require.NoError(t, note(t, db, "note of other"))
	require.NoError(t, db.Close())

	a := opened(t, path)
	require.NoError(t, note(t, a, "note 1"))
	require.NotEmpty(t, notes(t, a))        // so that it has a connection that reads
	require.NoError(t, os.Link(path, kept)) // as else nothing would be left of it to look at
	require.NoError(t, note(t, a, "note 2"))
	require.NoError(t, os.Rename(other, path))

	_, err := schema.Open(t.Context(), path, schema.Options{})
	require.ErrorIs(t, err, syscall.EBUSY)
	require.ErrorIs(t, note(t, a, "note 3"), syscall.ESTALE)
	require.ErrorIs(t, a.Join(t.Context(), 0, func(tx *schema.Tx) error { return nil }), syscall.ESTALE)
	require.ErrorIs(t, a.Stage(t.Context(), func(tx *schema.Tx) error { return nil }), syscall.ESTALE)
	require.Equal(t, []string{"note 1", "note 2"}, notes(t, a), "it can still be read")
	require.NoError(t, a.Close())

	require.Equal(t, []string{"note of other"}, notesAt(t, path))
	require.Equal(t, []string{"note 1", "note 2"}, notesAt(t, kept))
}

// While a file that was moved away from its log is open, Open creates no file at its old path and does not open it at the
// new one. An Open that fails leaves no file.
func TestMovedWhileOpen(t *testing.T) {
	unixOnly(t)
	dir := t.TempDir()
	path, away := filepath.Join(dir, "x.db"), filepath.Join(dir, "away.db")
	a := opened(t, path)
	require.NoError(t, note(t, a, "note 1"))
	require.NoError(t, os.Rename(path, away))

	for _, path := range []string{path, away} {
		_, err := schema.Open(t.Context(), path, schema.Options{})
		require.ErrorIs(t, err, syscall.EBUSY, path)
	}
	require.NoFileExists(t, path)
	require.NoFileExists(t, away+"-wal")
	require.ErrorIs(t, note(t, a, "note 2"), syscall.ESTALE)

	// Back in its place it is what it was.
	require.NoError(t, os.Rename(away, path))
	require.NoError(t, note(t, a, "note 3"))
	require.NoError(t, os.Rename(path, away))
	require.NoError(t, a.Close())

	b := opened(t, path)
	require.Empty(t, notes(t, b))
	require.NoError(t, note(t, b, "note of b"))
	require.Equal(t, []string{"note 1", "note 3"}, notesAt(t, away))
}

// A log that was moved along with its directory is not taken for that of another file which is put beside it.
func TestDirectoryMovedWhileOpen(t *testing.T) {
	unixOnly(t)
	top := t.TempDir()
	dir, other := filepath.Join(top, "a"), filepath.Join(top, "other.db")
	b, err := schema.Open(t.Context(), other, schema.Options{})
	require.NoError(t, err)
	require.NoError(t, note(t, b, "note other"))
	require.NoError(t, b.Close())
	require.NoError(t, os.Mkdir(dir, 0o700))
	a := opened(t, filepath.Join(dir, "x.db"))
	require.NoError(t, note(t, a, "note 1"))

	now := filepath.Join(top, "b")
	path, kept := filepath.Join(now, "x.db"), filepath.Join(now, "kept.db")
	require.NoError(t, os.Rename(dir, now))
	require.NoError(t, os.Rename(path, kept))
	require.ErrorIs(t, schema.Vacant(path), syscall.EBUSY)
	require.NoError(t, os.Rename(other, path))
	_, err = schema.Open(t.Context(), path, schema.Options{})
	require.ErrorIs(t, err, schema.ErrApart)
	require.ErrorIs(t, err, syscall.EBUSY)

	require.NoError(t, a.Close())
	require.Equal(t, []string{"note 1"}, notesAt(t, kept))
}

// Removing or replacing the files beside it ends the commits too. Earlier commits are in the file once it is closed.
func TestLogTakenAway(t *testing.T) {
	unixOnly(t)
	for _, suffix := range []string{"-wal", "-shm"} {
		for _, how := range []string{"removed", "replaced"} {
			t.Run(suffix+" "+how, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "x.db")
				a := opened(t, path)
				require.NoError(t, note(t, a, "note 1"))
				data, err := os.ReadFile(path + suffix)
				require.NoError(t, err)
				require.NoError(t, os.Rename(path+suffix, path+"-taken"))
				if how == "replaced" {
					require.NoError(t, os.WriteFile(path+suffix, data, 0o600))
				}
				require.ErrorIs(t, note(t, a, "note 2"), syscall.ESTALE)
				_, err = a.Checkpoint(t.Context())
				require.ErrorIs(t, err, syscall.ESTALE, "a new connection would use another log")
				_, err = schema.Open(t.Context(), path, schema.Options{})
				require.ErrorIs(t, err, schema.ErrApart)
				require.NoError(t, a.Close())
				_ = os.Remove(path + suffix) // this test put it there
				require.Equal(t, []string{"note 1"}, notesAt(t, path))
			})
		}
	}
}

// A file that is removed while it is open takes no more commits, and leaves no log behind.
func TestRemovedWhileOpen(t *testing.T) {
	unixOnly(t)
	path := filepath.Join(t.TempDir(), "x.db")
	a := opened(t, path)
	require.NoError(t, note(t, a, "note 1"))
	require.NoError(t, os.Remove(path))
	require.ErrorIs(t, note(t, a, "note 2"), syscall.ESTALE)
	require.ErrorIs(t, a.View(t.Context(), func(*schema.Tx) error { return nil }), syscall.ESTALE, "no connection reads yet")
	require.NoError(t, a.Close())
	require.NoFileExists(t, path+"-wal")
	require.Empty(t, notes(t, opened(t, path)))
}

// A file with two names is only read.
func TestHardLink(t *testing.T) {
	unixOnly(t)
	dir := t.TempDir()
	path, second := filepath.Join(dir, "x.db"), filepath.Join(dir, "second.db")
	a := opened(t, path)
	require.NoError(t, note(t, a, "note 1"))
	require.NoError(t, os.Link(path, second))
	for _, options := range []schema.Options{{}, {ReadOnly: true}} {
		_, err := schema.Open(t.Context(), second, options)
		require.Error(t, err, "its log is elsewhere")
	}
	require.NoError(t, note(t, a, "note 2"), "nobody can open the other name")
	require.NoError(t, a.Close())

	for _, path := range []string{path, second} {
		_, err := schema.Open(t.Context(), path, schema.Options{})
		require.ErrorIs(t, err, syscall.EMLINK)
		require.ErrorContains(t, err, "2 names")
		db, err := schema.Open(t.Context(), path, schema.Options{ReadOnly: true})
		require.NoError(t, err)
		require.Equal(t, []string{"note 1", "note 2"}, notes(t, db))
		require.NoError(t, db.Close())
	}
	require.NoError(t, os.Remove(second))
	require.Equal(t, []string{"note 1", "note 2"}, notesAt(t, path))
}

// One file by several symlinks is one file.
func TestSymlinked(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "x.db"), filepath.Join(dir, "link.db")
	a := opened(t, path)
	if err := os.Symlink(path, link); err != nil {
		t.Skip("symlinks need a privilege here")
	}
	b := opened(t, link)
	require.NoError(t, note(t, a, "note 1"))
	require.NoError(t, note(t, b, "note 2"))
	require.Equal(t, []string{"note 1", "note 2"}, notes(t, a))

	// A symlink that leads elsewhere now has not moved the file.
	other := opened(t, filepath.Join(dir, "other.db"))
	require.NoError(t, os.Remove(link))
	require.NoError(t, os.Symlink(other.Path(), link))
	require.NoError(t, note(t, b, "note 3"))
	require.Equal(t, []string{"note 1", "note 2", "note 3"}, notes(t, a))
	require.Empty(t, notes(t, opened(t, link)))
}

// A log without a file holds the last commits, so it neither becomes the log of a new file nor is removed.
func TestOrphanedLog(t *testing.T) {
	for _, empty := range []bool{false, true} {
		t.Run(fmt.Sprint("empty file ", empty), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			require.NoError(t, os.WriteFile(path+"-wal", []byte("frames"), 0o600))
			if empty {
				require.NoError(t, os.WriteFile(path, nil, 0o600))
			}
			_, err := schema.Open(t.Context(), path, schema.Options{})
			require.ErrorIs(t, err, fs.ErrExist)
			require.ErrorContains(t, err, "x.db-wal")
			require.FileExists(t, path+"-wal")
			if !empty {
				require.NoFileExists(t, path)
			}
			require.NoError(t, os.Remove(path+"-wal"))
			opened(t, path)
		})
	}
}

// A path that cannot be opened is refused by its own errno, and leaves no file.
func TestUnopenable(t *testing.T) {
	unixOnly(t)
	for _, tt := range []struct {
		name string
		make func(path string) error // beside x.db
		base string
		want error
	}{
		{name: "directory", base: "x.db", make: func(p string) error { return os.Mkdir(p+"-wal", 0o755) }, want: syscall.EISDIR},
		{name: "dangling", base: "x.db", make: func(p string) error { return os.Symlink("no", p+"-wal") }, want: syscall.ELOOP},
		{name: "248 bytes", base: strings.Repeat("n", 248), want: syscall.ENAMETOOLONG},
		{name: "250 bytes", base: strings.Repeat("n", 250), want: syscall.ENAMETOOLONG},
		{name: "255 bytes", base: strings.Repeat("n", 255), want: syscall.ENAMETOOLONG},
		{name: "256 bytes", base: strings.Repeat("n", 256), want: syscall.ENAMETOOLONG},
		{name: "long path", base: strings.Repeat(strings.Repeat("d", 99)+"/", 6) + "x.db", want: syscall.ENAMETOOLONG},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), tt.base)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			if tt.make != nil {
				require.NoError(t, tt.make(path))
			}
			_, err := schema.Open(t.Context(), path, schema.Options{})
			require.ErrorIs(t, err, tt.want)
			_, err = os.Lstat(path)
			require.Error(t, err)
		})
	}
	longest := filepath.Join(t.TempDir(), strings.Repeat("n", 247))
	require.NoError(t, note(t, opened(t, longest), "note"))
}

// A new file, its log and the index of that are for their owner alone; a file that was there keeps its mode.
func TestFileMode(t *testing.T) {
	unixOnly(t)
	path := filepath.Join(t.TempDir(), "x.db")
	mode := func(want fs.FileMode) {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			info, err := os.Stat(path + suffix)
			require.NoError(t, err)
			require.Equal(t, want, info.Mode().Perm(), suffix)
		}
	}
	db := opened(t, path)
	mode(0o600)
	copied := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, db.Backup(t.Context(), copied))
	info, err := os.Stat(copied)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, db.Close())
	require.NoError(t, os.Chmod(path, 0o640))
	opened(t, path)
	mode(0o640)
}

// One DB of a file may be closed while others are opened: the last one to close removes the log, and the next one to open
// makes a new log.
func TestOpenWhileClosing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	var all sync.WaitGroup
	for g := range 2 { // so that often none else has it open
		all.Go(func() {
			for i := range 300 {
				db, err := schema.Open(t.Context(), path, schema.Options{Relaxed: true})
				if !assert.NoError(t, err) {
					return
				}
				assert.NoError(t, db.Update(t.Context(), filler(g*100+i)))
				assert.NoError(t, db.Close())
			}
		})
	}
	all.Wait()
}
