package chunk

import "vfsdb/schema"

// A chunk that leaves the cache leaves the sums of its sections there, which are a fivehundredth of it. So a part of it that
// is asked for later is read and verified by itself: the other sections stay where they are.

const (
	// section is how much of a chunk has a sum of its own in memory.
	section = 16 << 10

	// sectionBytes is how much memory these sums take at most: those of 1.6 GiB.
	sectionBytes = 4 << 20

	// sectionReads is how many reads by sections are worth loading the whole chunk again.
	sectionReads = 16
)

// sectionAddress is what the sums of a chunk's sections are kept under.
func sectionAddress(a address) address {
	a.sections = true
	return a
}

// remember keeps the sums of the sections of chunks that have left the cache.
func (c *Cache) remember(left []*held) {
	for _, h := range left {
		at := sectionAddress(h.address)
		if h.buf != nil && !c.has(at) {
			sums := make([]byte, 0, (len(h.bytes)+section-1)/section*len(Sum{}))
			for p := h.bytes; len(p) > 0; p = p[min(section, len(p)):] {
				sum := SumOf(p[:min(section, len(p))])
				sums = append(sums, sum[:]...)
			}
			c.put(&held{address: at, bytes: sums})
		}
		h.release()
	}
}

func (c *Cache) has(a address) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[a] != nil
}

// sections returns the sums of the sections of a chunk, or nil: they are not kept, or the chunk itself is, or it should be since
// so much is asked of it.
func (c *Cache) sections(a address) (sums []byte) {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.all[sectionAddress(a)]
	if h == nil || c.all[a] != nil {
		return nil
	}
	h.on.MoveToFront(h.at)
	if h.reads++; h.reads > sectionReads {
		h.reads = 0
		return nil
	}
	return h.bytes
}

// fromSections fills part from off on of a chunk, if the sums of its sections are kept and it is stored as it is. What cannot be
// read so, or is not what it was, is for the caller to load: done is false.
func (c *Cache) fromSections(tx *schema.Tx, from address, off int, part []byte) (done bool) {
	first, last := off/section, (off+len(part)-1)/section
	if tx == nil || last-first >= sectionReads {
		return false
	}
	sums := c.sections(from)
	if sums == nil {
		return false
	}
	id := from.id
	if from.kind == 0 {
		var err error
		if id, err = findBlob(tx, from.sum); id == 0 || err != nil {
			return false
		}
	}
	buf := takeBuffer()
	defer giveBuffer(buf)
	p := buf[first*section : min((last+1)*section, int(from.size))]
	if ok, err := tx.ReadBlob("blob", "data", id, from.size, int64(first*section), p); !ok || err != nil {
		return false
	}
	for n := first; n <= last; n++ {
		if SumOf(buf[n*section:min((n+1)*section, int(from.size))]) != Sum(sums[n*len(Sum{}):]) {
			return false
		}
	}
	copy(part, buf[off:])
	return true
}
