package vfstest

import (
	"context"

	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// UntilCommit returns a context that ends at the next commit to the store. Later calls with it fail.
func UntilCommit(ctx context.Context, fsys *vfs.FS) context.Context {
	was, _ := (*tree.Tree)(fsys).DB().Mark()
	return &untilCommit{ctx, (*tree.Tree)(fsys).DB(), was}
}

type untilCommit struct {
	context.Context
	db  *schema.DB
	was schema.Mark
}

// Err is called at the beginning of each transaction.
func (c *untilCommit) Err() error {
	if now, ok := c.db.Mark(); !ok || now != c.was {
		return context.Canceled
	}
	return c.Context.Err()
}
