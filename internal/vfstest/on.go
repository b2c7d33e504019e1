package vfstest

import (
	"vfsdb/tree"
	"vfsdb/vfs"
)

// On is a transaction on another tree of its store.
func On(tx *vfs.Tx, other *vfs.FS) (*vfs.Tx, error) {
	on, err := (*tree.Tx)(tx).On((*tree.Tree)(other))
	return (*vfs.Tx)(on), err
}
