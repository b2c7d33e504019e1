package tree

import (
	"context"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/history"
	"vfsdb/node"
	"vfsdb/schema"
)

// Paths are the verbs of the room above, which takes paths apart. The tests of this room that look inside it cannot import
// that room; verbs_test.go can, and sets ByPath.
type Paths interface {
	Mkdir(name string) error
	WriteFile(name string, data []byte) error // with the directories above it
	Remove(name string) error
	Rename(from, to string) error
	Link(from, to string) error
	Chmod(name string, mode fs.FileMode) error
	Lstat(name string) (*node.Info, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	ReadFile(name string) ([]byte, error)
}

// ByPath returns the verbs of a transaction.
var ByPath func(*Tx) Paths

// openTest opens the branch main of a store that ends with the test.
func openTest(t *testing.T, path string) *Tree {
	t.Helper()
	st, err := Open(t.Context(), path, schema.Options{Relaxed: true}, false)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	main, err := st.Head(t.Context(), history.MainBranch)
	require.NoError(t, err)
	return main
}

// lstat describes a file as a short verb does: from what is cached, if that suffices.
func lstat(ctx context.Context, fsys *Tree, name string) (info *node.Info, err error) {
	err = fsys.Look(ctx, func(tx *Tx) (err error) {
		info, err = ByPath(tx).Lstat(name)
		return err
	})
	return info, err
}

// write writes a file in a short commit.
func write(ctx context.Context, fsys *Tree, name string, data []byte) error {
	return fsys.Join(ctx, len(data), func(tx *Tx) error { return ByPath(tx).WriteFile(name, data) })
}

// readFile returns the committed content of a file.
func readFile(ctx context.Context, fsys *Tree, name string) (data []byte, err error) {
	err = fsys.View(ctx, func(tx *Tx) (err error) {
		data, err = ByPath(tx).ReadFile(name)
		return err
	})
	return data, err
}

// openPath opens the inode that a path leads to.
func openPath(ctx context.Context, fsys *Tree, name string, mode HandleMode) (*Handle, error) {
	info, err := lstat(ctx, fsys, name)
	if err != nil {
		return nil, err
	}
	return fsys.OpenInode(ctx, info.Ino(), mode)
}

// create makes an empty file and opens it for reading and writing.
func create(ctx context.Context, fsys *Tree, name string) (*Handle, error) {
	if err := write(ctx, fsys, name, nil); err != nil {
		return nil, err
	}
	return openPath(ctx, fsys, name, HandleMode{Write: true})
}
