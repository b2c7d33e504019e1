package chunk

import (
	"vfsdb/hold"
	"vfsdb/schema"
)

// loadParts fills parts of p, which is the chunk with this sum, and verifies each by the chunk's chain: the other parts
// stay where they are. The numbers of the parts ascend. Whatever lies over the base is filled too, and not verified. ok
// is false if the chunk is not stored so that its parts can be had, or one is damaged: loading it whole tells.
func loadParts(tx *schema.Tx, sum Sum, known chain, p []byte, parts []int) (d *delta, ok bool, err error) {
	var over [][]byte
	d, err = deltaOf(tx, sum, len(p), func(_ span, bytes []byte) { over = append(over, bytes) })
	if err != nil || !d.plain || d.of != len(p) {
		return nil, false, err
	}
	for n := 0; n < len(parts); {
		first := n
		for n++; n < len(parts) && parts[n] == parts[n-1]+1; n++ {
		}
		from, to := parts[first]*partSize, min((parts[n-1]+1)*partSize, len(p))
		if whole, err := tx.ReadBlob("blob", "data", d.base, int64(len(p)), int64(from), p[from:to]); err != nil || !whole {
			return nil, false, err
		}
	}
	for n, s := range d.spans {
		copy(p[s.from:s.to], over[n])
	}
	for _, n := range parts {
		if link(n, partOf(p, n)) != known[n] {
			return nil, false, nil
		}
	}
	return d, true, nil
}

// manyParts is how many parts of a chunk are not worth reading apart, at once or one after the other.
const manyParts = 16

// part fills p from off on of a chunk that is not kept, without the rest of it, if its chain is known. What cannot be
// had so is for the caller to load: done is false.
func (r *Reader) part(tx *schema.Tx, from address, off int, p []byte) (done bool) {
	first, last := off/partSize, (off+len(p)-1)/partSize
	if r.cache == nil || tx == nil || from.size < deltaLeast || last-first >= manyParts || r.cache.has(from) {
		return false
	}
	sum := from.sum
	if from.kind == hold.Blob {
		var err error
		if sum, err = blobSum(tx, from.id); err != nil {
			return false
		}
	}
	known := chains.forPart(sum)
	if len(known) != partsOf(int(from.size)) {
		return false
	}
	parts := make([]int, 0, manyParts)
	for n := first; n <= last; n++ {
		parts = append(parts, n)
	}
	buf := takeBuffer()
	defer giveBuffer(buf)
	if _, ok, err := loadParts(tx, sum, known, buf[:from.size], parts); !ok || err != nil {
		return false
	}
	copy(p, buf[off:])
	return true
}

// chained is SumOf for a chunk of which parts will be wanted: its chain is kept.
func chained(p []byte) Sum {
	c := chainOf(p)
	sum := c.sum()
	chains.put(sum, c, Sum{})
	return sum
}
