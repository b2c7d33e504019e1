package vfstest

import (
	"vfsdb/tree"
	"vfsdb/vfs"
)

// On returns a transaction on another tree of the same store.
func On(tx *vfs.Tx, other *vfs.FS) (*vfs.Tx, error) {
	on, err := (*tree.Tx)(tx).On((*tree.Tree)(other))
	return (*vfs.Tx)(on), err
}
