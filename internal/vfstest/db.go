package vfstest

import (
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// DB is the file under a tree, for tests that look at rows, or damage them.
func DB(fsys *vfs.FS) *schema.DB { return (*tree.Tree)(fsys).DB() }
