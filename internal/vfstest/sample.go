package vfstest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/schema"
	"vfsdb/vfs"
)

// The file of Sample is made once and copied for each test.
var (
	sample     sync.Once
	sampleFile []byte
)

// Sample makes a store with some of everything in it: in main, its snapshot "base", and the branch "try" forked there. It
// is closed at the end of the test and not checked, so the test may damage it.
func Sample(t *testing.T) *vfs.FS {
	t.Helper()
	sample.Do(func() { sampleFile = makeSample(t) })
	name := filepath.Join(t.TempDir(), "test.db")
	require.NoError(t, os.WriteFile(name, sampleFile, 0o644))
	fsys, err := vfs.Open(t.Context(), name, &vfs.Options{Relaxed: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, fsys.Close()) })
	return fsys
}

func makeSample(t *testing.T) []byte {
	t.Helper()
	ctx := t.Context()
	name := filepath.Join(t.TempDir(), "sample.db")
	fsys, err := vfs.Open(ctx, name, &vfs.Options{Relaxed: true})
	require.NoError(t, err)

	// The content of big has a hole in it, and all types of files are there.
	big := make([]byte, 2*chunk.Size+100)
	rand.NewChaCha8([32]byte{7}).Read(big)
	clear(big[1000:chunk.Size])
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		for _, name := range []string{"a", "dir/b", "dir/sub/c", "dir/sub/d", "gone/x/y", "last"} {
			require.NoError(t, tx.WriteFile(name, []byte("this is "+name), 0o644, vfs.Parents()))
		}
		require.NoError(t, tx.Link("a", "dir/a2"))
		require.NoError(t, tx.Symlink("../a", "dir/link"))
		require.NoError(t, tx.Mknod("dir/fifo", 0o600|1<<25, 0))
		require.NoError(t, tx.WriteFile("big", big, 0o600))
		require.NoError(t, tx.WriteFile("hole", nil, 0o600))
		require.NoError(t, tx.WriteFile("empty", nil, 0o600))
		return tx.Truncate("hole", 100<<30)
	}))

	// The branch and main differ from the snapshot, each in its own way.
	base := Snapshot(t, fsys, "base")
	try := Branch(t, base, "try")
	require.NoError(t, fsys.WriteFile(ctx, "dir/b", []byte("changed in main"), 0o644))
	require.NoError(t, fsys.RemoveAll(ctx, "gone"))
	require.NoError(t, fsys.Remove(ctx, "last"))
	require.NoError(t, try.WriteFile(ctx, "dir/sub/c", []byte("changed in try"), 0o644))
	require.NoError(t, try.Remove(ctx, "dir/sub/d"))
	require.NoError(t, try.Rename(ctx, "dir", "moved"))
	Snapshot(t, try, "tried")

	require.NoError(t, fsys.Close())
	file, err := os.ReadFile(name)
	require.NoError(t, err)
	return file
}

// Damage runs SQL behind the back of the rooms. Each word $path stands for the number of the inode at that path of main.
func Damage(t *testing.T, fsys *vfs.FS, text string) {
	t.Helper()
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" (),", r) })
	for _, word := range words {
		if name, ok := strings.CutPrefix(word, "$"); ok {
			info, err := fsys.Lstat(t.Context(), name)
			require.NoError(t, err)
			text = strings.Replace(text, word, fmt.Sprint(info.Ino()), 1)
		}
	}
	require.NoError(t, DB(fsys).Update(t.Context(), func(tx *schema.Tx) error {
		n, err := tx.Exec(text)
		require.NoError(t, err)
		require.Positive(t, n, "no row was damaged")
		return nil
	}))
}
