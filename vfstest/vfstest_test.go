package vfstest_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	kit "vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/vfs"
	"vfsdb/vfstest"
)

func TestNew(t *testing.T) {
	fsys := vfstest.New(t, "a", "dir/b", "void/")
	require.Equal(t, []string{"a", "dir/", "dir/b", "void/"}, vfstest.Names(t, fsys))
	data, err := fsys.ReadFile(t.Context(), "dir/b")
	require.NoError(t, err)
	require.Equal(t, "dir/b", string(data))
}

func TestFromMap(t *testing.T) {
	fsys := vfstest.FromMap(t, map[string]string{"a/b": "one\n", "c/": "ignored", "/d": ""})
	require.Equal(t, "drwxr-xr-x a/\n-rw-r--r-- a/b\ndrwxr-xr-x c/\n-rw-r--r-- d\n-- a/b --\none\n-- d --\n", vfstest.Tree(t, fsys))
}

// Permissions are kept where there are any, symlinks stay symlinks, and what a store has no copy for is left out.
func TestFromFS(t *testing.T) {
	fsys := vfstest.FromFS(t, fstest.MapFS{
		"bin/run":  {Data: []byte("#!/bin/sh\n"), Mode: 0o755},
		"plain":    {Data: []byte("text\n")},
		"link":     {Data: []byte("bin/run"), Mode: os.ModeSymlink | 0o777},
		"dir/void": {Mode: os.ModeDir | 0o700},
		"pipe":     {Mode: os.ModeNamedPipe},
	})
	require.Equal(t, `drwxr-xr-x bin/
-rwxr-xr-x bin/run
drwxr-xr-x dir/
drwxr-xr-x dir/void/
Lrwxrwxrwx link -> bin/run
-rw-r--r-- plain
-- bin/run --
#!/bin/sh
-- plain --
text
`, vfstest.Tree(t, fsys))
}

func TestFromDirFS(t *testing.T) {
	fsys := vfstest.FromFS(t, os.DirFS("testdata"))
	require.Contains(t, vfstest.Names(t, fsys), "tree.txtar")
}

// A file that an archive cannot hold is described by its size and sum. Names that are not plain text are quoted.
func TestTreeOfOddFiles(t *testing.T) {
	fsys := vfstest.FromMap(t, map[string]string{
		"binary":      "\x00\x01",
		"latin":       "\xe9\n",
		"like a file": "-- a --\n",
		"open":        "no end",
		"two\nlines":  "x\n",
		"\xff":        "y\n",
	})
	require.NoError(t, fsys.Symlink(t.Context(), "a\tb", "link"))
	vfstest.GoldenTree(t, "testdata/tree.txtar", fsys)
}

// A store that is damaged when the test ends fails it, also if the test has closed the store.
func TestCheckFails(t *testing.T) {
	for _, tt := range []struct {
		name   string
		closed bool
	}{{"open", false}, {"closed by the test", true}} {
		t.Run(tt.name, func(t *testing.T) {
			got := kit.Failures(t, func(t testing.TB) {
				fsys := vfstest.New(t, "a")
				damage(t, fsys)
				if tt.closed {
					require.NoError(t, fsys.Close())
				}
			})
			require.Contains(t, got, "vfstest: check: ")
		})
	}
	require.Empty(t, kit.Failures(t, func(t testing.TB) { vfstest.New(t, "a") }))
}

// damage stores a link count above the number of names of a file.
func damage(t testing.TB, fsys *vfs.FS) {
	t.Helper()
	require.NoError(t, kit.DB(fsys).Update(t.Context(), func(tx *schema.Tx) error {
		_, err := tx.Exec(`UPDATE inode SET nlink = nlink + 1 WHERE size > 0`)
		return err
	}))
}

func TestNewFails(t *testing.T) {
	require.Contains(t, kit.Failures(t, func(t testing.TB) { vfstest.New(t, "a", "a/b") }), "not a directory")
	require.Contains(t, kit.Failures(t, func(t testing.TB) {
		vfstest.Open(t, filepath.Join(t.TempDir(), "no", "a.db"), nil)
	}), "no such file")
}

// A golden file that is missing or differs fails the test with the difference, and the flag writes it.
func TestGolden(t *testing.T) {
	updating(t, "false")
	file := filepath.Join(t.TempDir(), "dir", "a.golden")
	compare := func(text string) string {
		return kit.Failures(t, func(t testing.TB) { vfstest.Golden(t, file, text) })
	}
	require.Contains(t, compare("one\n"), "-vfstest.update writes it")

	updating(t, "true")
	require.Empty(t, compare("one\n"))

	updating(t, "false")
	require.Empty(t, compare("one\n"))
	require.Contains(t, compare("one\ntwo\n"), "\n one\n+two\n")
}

// updating sets the flag for the rest of a test.
func updating(t *testing.T, value string) {
	t.Helper()
	was := flag.Lookup("vfstest.update").Value.String()
	require.NoError(t, flag.Set("vfstest.update", value))
	t.Cleanup(func() { require.NoError(t, flag.Set("vfstest.update", was)) })
}
