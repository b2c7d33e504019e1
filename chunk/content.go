package chunk

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"vfsdb/hold"
	"vfsdb/schema"
)

const (
	// Size is the length of every chunk but the last of a content, in bytes.
	Size = 512 << 10

	// MaxSize is the longest content: a manifest counts its chunks in 32 bits.
	MaxSize = Size << 32
)

// A Content stands for the bytes of an inode. The zero value is empty content. Within one file, two contents are equal
// byte for byte if and only if their Contents are.
type Content struct {
	Size     int64 // in bytes
	Blob     int64 // the only chunk; 0 if Size > chunk.Size, or if it is all zeros
	Manifest int64 // the chunks; 0 if Size <= chunk.Size
}

// Check refuses with a [CorruptError] a Content that no Put ever returned, so that callers may rely on the numbers of a
// row.
func (c Content) Check() error {
	switch {
	case c.Size < 0 || c.Size > MaxSize,
		c.Size > Size && (c.Manifest == 0 || c.Blob != 0),
		c.Size <= Size && c.Manifest != 0,
		c.Size == 0 && c.Blob != 0:
		return &CorruptError{Blob: c.Blob, Manifest: c.Manifest, Why: fmt.Sprintf("cannot be content of %d bytes", c.Size)}
	}
	return nil
}

// SumOfContent returns the sum of content: that of its bytes if they fit one chunk, else that of its manifest. It takes
// the sum from the row, and does not compare it with the bytes; reading does.
func SumOfContent(tx *schema.Tx, c Content) (Sum, error) {
	if err := c.Check(); err != nil {
		return Sum{}, err
	}
	switch {
	case c.Manifest != 0:
		return manifestSum(tx, c.Manifest)
	case c.Blob != 0:
		return blobSum(tx, c.Blob)
	}
	return SumOf(zeros[:c.Size]), nil
}

// SumsOf returns the sums of those of some contents that have one chunk, as [SumOfContent] does of each. It leaves out what
// it does not find.
func SumsOf(tx *schema.Tx, contents []Content) (map[Content]Sum, error) {
	of := make(map[int64]Content)
	for _, c := range contents {
		if c.Blob != 0 && c.Check() == nil {
			of[c.Blob] = c
		}
	}
	ids := slices.Sorted(maps.Keys(of))

	sums := make(map[Content]Sum, len(of))
	rows := tx.Query(`SELECT b.id, b.sum FROM json_each(?) i CROSS JOIN blob b ON b.id = i.value`, schema.List(ids))
	for rows.Next() {
		var sum Sum
		if sum.scan(rows, 1) {
			sums[of[rows.Int(0)]] = sum
		}
	}
	return sums, rows.Err()
}

// Touch notes that c gained a reference, if a collection runs. Every transaction that stores a Content in a row of its
// own calls it.
func Touch(tx *schema.Tx, c Content) error {
	switch {
	case c.Manifest != 0:
		return hold.Touch(tx, hold.Manifest, c.Manifest)
	case c.Blob != 0:
		return hold.Touch(tx, hold.Blob, c.Blob)
	}
	return nil
}

// zeros is a chunk of zeros.
var zeros [Size]byte

func isHole(p []byte) bool { return bytes.Equal(p, zeros[:len(p)]) }

// chunks returns how many chunks content of size bytes has.
func chunks(size int64) int64 { return (size + Size - 1) / Size }

// lengthOf returns the length of chunk i of content of size bytes; 0 past its end.
func lengthOf(size, i int64) int { return int(max(0, min(Size, size-i*Size))) }
