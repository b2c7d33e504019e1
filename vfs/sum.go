package vfs

import (
	"context"

	"vfsdb/chunk"
)

// Sum returns the address of a regular file's content: BLAKE3-256 of the bytes up to 512 KiB, of the manifest beyond.
// Equal contents have equal sums. A directory is EISDIR, anything else that is not a regular file EINVAL.
func (tx *Tx) Sum(name string) (Sum, error) {
	sum, err := tx.sum(name)
	return sum, pathErr("sum", name, err)
}

func (tx *Tx) sum(name string) (Sum, error) {
	_, n, err := tx.findFile(name)
	if err != nil {
		return Sum{}, err
	}
	return chunk.SumOfContent(tx.tree().DB(), n.Content)
}

// Sum returns the address of a regular file's content, see [Tx.Sum].
func (fsys *FS) Sum(ctx context.Context, name string) (sum Sum, err error) {
	err = fsys.view(ctx, "sum", name, func(tx *Tx) (err error) {
		sum, err = tx.Sum(name)
		return err
	})
	return sum, err
}

// SumOf returns the sum of the content that a regular file had when info was made, whatever became of the file: that of
// a listing, a Find, or a side of a change. Content that was replaced and then collected is ESTALE.
func (tx *Tx) SumOf(info *Info) (Sum, error) {
	sum, err := tx.tree().SumOfInfo(info)
	return sum, pathErr("sum", info.Name(), err)
}
