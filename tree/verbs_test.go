package tree_test

import (
	"io/fs"

	"vfsdb/tree"
	"vfsdb/vfs"
)

func init() {
	tree.ByPath = func(tx *tree.Tx) tree.Paths { return paths{(*vfs.Tx)(tx)} }
}

// paths are the verbs of a transaction without their options.
type paths struct{ *vfs.Tx }

func (p paths) Mkdir(name string) error { return p.Tx.Mkdir(name, 0o755) }

func (p paths) WriteFile(name string, data []byte) error {
	return p.Tx.WriteFile(name, data, 0o644, vfs.Parents())
}

func (p paths) Remove(name string) error { return p.Tx.Remove(name) }

func (p paths) Rename(from, to string) error { return p.Tx.Rename(from, to) }

func (p paths) Link(from, to string) error { return p.Tx.Link(from, to) }

func (p paths) Chmod(name string, mode fs.FileMode) error { return p.Tx.Chmod(name, mode) }
