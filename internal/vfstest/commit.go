package vfstest

import (
	"context"

	"vfsdb/schema"
	"vfsdb/vfs"
)

// UntilCommit is ctx, but ends as soon as anything is committed to the store: what is asked for after that fails.
func UntilCommit(ctx context.Context, fsys *vfs.FS) context.Context {
	was, _ := fsys.DB().Mark()
	return &untilCommit{ctx, fsys.DB(), was}
}

type untilCommit struct {
	context.Context
	db  *schema.DB
	was schema.Mark
}

// Err is asked at the beginning of each transaction.
func (c *untilCommit) Err() error {
	if now, ok := c.db.Mark(); !ok || now != c.was {
		return context.Canceled
	}
	return c.Context.Err()
}
