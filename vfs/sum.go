package vfs

import (
	"context"

	"vfsdb/chunk"
)

// Sum returns the address of a file's content: BLAKE3-256 of up to 512 KiB of bytes, or of the manifest. A directory
// is EISDIR, another type EINVAL.
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

// SumOf returns the sum of a regular file's content when info was made, as by a listing. Content that was collected
// since is ESTALE.
func (tx *Tx) SumOf(info *Info) (Sum, error) {
	sum, err := tx.tree().SumOfInfo(info)
	return sum, pathErr("sum", info.Name(), err)
}
