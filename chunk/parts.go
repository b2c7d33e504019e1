package chunk

import (
	"vfsdb/hold"
	"vfsdb/schema"
)

// loadParts fills parts of p, the chunk with this sum, and verifies each by the chunk's chain; the other parts are not
// loaded. The numbers of the parts ascend. The spans that lie over the base are filled too, and not verified. ok is false
// if the chunk is not stored in a way that allows that, or a part is damaged: loading it whole finds out.
func loadParts(tx *schema.Tx, sum Sum, known chain, p []byte, parts []int) (d *delta, ok bool, err error) {
	var over [][]byte
	d, err = deltaOf(tx, sum, len(p), func(_ span, bytes []byte) { over = append(over, bytes) })
	if err != nil || !d.plain || d.of != len(p) {
		return nil, false, err
	}

	// Adjacent parts are read in one go.
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

// manyParts is how many parts of a chunk are read before it is loaded whole, at once or one after the other.
const manyParts = 16

// part fills p with the bytes from off on of a chunk that is not in the cache, without loading the rest, if the chunk's
// chain is known. If it is not, done is false, and the caller loads the chunk.
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
