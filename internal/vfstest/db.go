package vfstest

import (
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// DB returns the file under a tree, for tests that read rows, or damage them.
func DB(fsys *vfs.FS) *schema.DB { return (*tree.Tree)(fsys).DB() }
