package vfs

import (
	"math"
	"syscall"

	"vfsdb/chunk"
)

// ReadSum returns a content by its sum, verified, also one that no tree shows any more, until it is collected. A sum
// that is not stored is ENOENT, a content longer than limit EFBIG.
func (tx *Tx) ReadSum(sum Sum, limit int64) ([]byte, error) {
	data, err := tx.readSum(sum, limit)
	return data, pathErr("read", sum.String(), err)
}

func (tx *Tx) readSum(sum Sum, limit int64) ([]byte, error) {
	c, ok, err := chunk.Find(tx.tree().DB(), sum)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, syscall.ENOENT
	case c.Size > limit:
		return nil, syscall.EFBIG
	}
	return tx.tree().ReadContent(c, 0, math.MaxInt64)
}
