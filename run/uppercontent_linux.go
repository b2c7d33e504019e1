package run

import (
	"context"
	"io"
	"sync/atomic"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/internal/sparse"
	"vfsdb/tree"
)

// An upperContent is the content of a regular file of the upper layer, before it is in the tree.
type upperContent interface {
	Sum() chunk.Sum
	commit(*tree.Tx) (chunk.Content, error)
}

// A drafted content is in memory until the commit.
type drafted struct{ *chunk.Draft }

func (d drafted) commit(tx *tree.Tx) (chunk.Content, error) { return d.Put(tx.DB()) }

// A staged content is in the store already, where nothing points at it.
type staged struct{ *chunk.Item }

func (s staged) commit(tx *tree.Tx) (chunk.Content, error) { return s.Commit(tx.DB()) }

// maxDrafted is how many bytes wait in memory for the commit. Most commands change less, and so need one transaction. What
// is more is staged.
const maxDrafted = 8 << 20

// contents take in the contents of files, from several goroutines.
type contents struct {
	tree    *tree.Tree
	batch   *chunk.Batch
	drafted atomic.Int64
}

func newContents(ctx context.Context, t *tree.Tree) *contents {
	return &contents{tree: t, batch: t.NewBatch(ctx)}
}

// store takes in the content of a file.
func (c *contents) store(ctx context.Context, f upperFile) error {
	if c.draft(f.size) {
		p := make([]byte, f.size)
		if _, err := io.ReadFull(f, p); err != nil {
			return unlessEOF(err)
		}
		f.inode.data = drafted{c.tree.Prepare(p)}
		return nil
	}

	item, err := c.batch.Add(ctx, sparse.Holes(f.File))
	if err != nil {
		return err
	}
	f.inode.data = staged{item}
	return nil
}

// draft reports whether there is room to draft a content of a size, and takes that.
func (c *contents) draft(size int64) bool {
	if size > maxDrafted {
		return false
	}
	if c.drafted.Add(size) <= maxDrafted {
		return true
	}
	c.drafted.Add(-size)
	return false
}

// flush waits until all that is staged is stored.
func (c *contents) flush() error { return c.batch.Flush() }

// unlessEOF returns the error that ended a read too early.
func unlessEOF(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return syscall.EIO
	}
	return err
}
