package chunk

import (
	"bytes"
	"container/list"
	"io"
	"sync"
	"sync/atomic"

	"vfsdb/hold"
	"vfsdb/schema"
)

// A Cache keeps verified content for all readers of one store: to read it again costs no statement and no hash. It is
// never stale. Bytes under a sum have that sum, and bytes under the id of a committed row never change, because no id is
// given out twice. A transaction that writes may be undone, so nothing that it reads is put in. The Cache is bounded by
// bytes, see [CacheBytes]. It is safe for concurrent use; a nil Cache keeps nothing.
//
// A check reads without a Cache, since it looks for damage in the file.
type Cache struct {
	mu     sync.Mutex
	closed bool
	all    map[address]*entry
	wholes shelf // contents of one chunk
	parts  shelf // chunks of which a part was asked for, and manifests
	asked  shelf // addresses that were asked for and not kept

	hits, misses int64 // of take
}

const (
	// CacheBytes is how much memory a Cache takes at most, besides that of the readers in flight.
	CacheBytes = wholeBytes + partBytes

	wholeBytes = 16 << 20
	partBytes  = 8 << 20

	// wholeLimit is how long content may be to be kept the first time that somebody reads all of it.
	wholeLimit = 128 << 10

	// entryBytes is the memory of an entry beside its bytes.
	entryBytes = 256
)

// An address is the key of an entry: the row of a blob or a manifest, or the sum of a chunk; and its length.
type address struct {
	kind int   // hold.Blob, hold.Manifest, or 0 for a sum
	id   int64 // of the row
	size int64 // of the content, or the chunk
	sum  Sum
}

// An entry is verified bytes, which nobody changes while there are users.
type entry struct {
	address address
	bytes   []byte
	buf     *buffer      // in which bytes are; nil if they have memory of their own
	users   atomic.Int32 // the cache is one of them
	cost    int

	on *shelf
	at *list.Element
}

// newEntry returns memory for a chunk, which has one user. A short chunk gets no more than it needs, since many may be
// kept.
func newEntry(a address) *entry {
	h := &entry{address: a}
	if h.users.Store(1); a.size < Size/8 {
		h.bytes = make([]byte, a.size)
	} else {
		h.buf = takeBuffer()
		h.bytes = h.buf[:a.size]
	}
	return h
}

// A shelf is a list of entries, bounded by their cost. The entry that was used last is at the front, and the one at the
// back makes room for a new one.
type shelf struct {
	list.List
	bytes, bound int
}

// NewCache returns an empty Cache. It takes no memory before something is read.
func NewCache() *Cache {
	return &Cache{
		all:    make(map[address]*entry),
		wholes: shelf{bound: wholeBytes},
		parts:  shelf{bound: partBytes},
		asked:  shelf{bound: wholeBytes},
	}
}

// Metrics returns how many look-ups have hit and missed since the Cache was made, and how many bytes it keeps now.
func (c *Cache) Metrics() (hits, misses, kept int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hits, c.misses, int64(c.wholes.bytes + c.parts.bytes)
}

// Close gives the memory back. From then on the Cache keeps nothing.
func (c *Cache) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, h := range c.all {
		c.drop(h)
	}
}

// Read is the function of that name, through the cache.
func (c *Cache) Read(tx *schema.Tx, content Content, p []byte, off int64) (int, error) {
	r := c.NewReader(content)
	defer r.Release()
	return r.ReadAt(tx, p, off)
}

// NewReader is the function of that name, through the cache.
func (c *Cache) NewReader(content Content) *Reader {
	return &Reader{cache: c, content: content, at: -1}
}

// NewPassing is NewReader for a scan, which goes through very much once: it reads from the cache and adds nothing to it.
func (c *Cache) NewPassing(content Content) *Reader {
	return &Reader{cache: c, passing: true, content: content, at: -1}
}

// peekLimit is how much of a content Peek returns at most.
const peekLimit = Size

// Peek returns a copy of n bytes of content from off on, fewer where it ends, if all of them are in the cache. It needs no
// transaction. ok is false where only Read can answer: content that is not in the cache, is damaged, or is long.
func (c *Cache) Peek(content Content, off, n int64) (p []byte, ok bool) {
	n = max(0, min(n, content.Size-off))
	if c == nil || off < 0 || n > peekLimit || content.Check() != nil {
		return nil, false
	}
	off = min(off, content.Size)

	if content.Manifest != 0 || content.Blob == 0 {
		r := c.NewReader(content)
		defer r.Release()
		if !r.held(off, n) {
			return nil, false
		}
		p = make([]byte, n)
		got, err := r.ReadAt(nil, p, off)
		return p, int64(got) == n && (err == nil || err == io.EOF) // a chunk that was there may be gone
	}

	h := c.take(blobAddress(content))
	if h == nil {
		return nil, false
	}
	defer h.release()
	return append([]byte{}, h.bytes[off:off+n]...), true
}

func blobAddress(c Content) address { return address{kind: hold.Blob, id: c.Blob, size: c.Size} }
func manifestAddress(c Content) address {
	return address{kind: hold.Manifest, id: c.Manifest, size: c.Size}
}

// take returns the entry under an address, or nil. The caller is one more user of it, until it calls release.
func (c *Cache) take(a address) *entry {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.all[a]
	if h == nil || h.bytes == nil {
		c.misses++
		return nil
	}
	c.hits++
	h.on.MoveToFront(h.at)
	h.users.Add(1)
	return h
}

// release ends the use of h. Without users its buffer goes back to the pool.
func (h *entry) release() {
	if h.users.Add(-1) == 0 && h.buf != nil {
		giveBuffer(h.buf)
	}
}

// offer keeps a copy of bytes that were read whole, if that is worthwhile.
func (c *Cache) offer(a address, p []byte) {
	if c != nil && c.wants(a, len(p)+entryBytes) {
		c.put(&entry{address: a, bytes: bytes.Clone(p)})
	}
}

// wants reports whether content is worth a copy: it is short and there is room, or it was asked for before, not long ago.
// So a scan of very many files takes nothing from readers of a few.
func (c *Cache) wants(a address, cost int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.all[a] != nil || cost <= wholeLimit+entryBytes && c.wholes.bytes+cost <= c.wholes.bound {
		return !c.closed
	}
	c.push(&c.asked, &entry{address: a, cost: cost})
	return false
}

// put keeps h, which then has one more user, unless it would take a great part of its shelf.
func (c *Cache) put(h *entry) {
	if c == nil {
		return
	}

	on := &c.wholes
	if h.buf != nil || h.address.kind == hold.Manifest {
		on = &c.parts
	}
	h.cost = entryBytes + len(h.bytes)
	if h.buf != nil {
		h.cost = entryBytes + len(h.buf)
	}
	if h.cost > on.bound/4 {
		return
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	if was := c.all[h.address]; was != nil && was.bytes == nil {
		c.drop(was)
	}
	if !c.closed && c.all[h.address] == nil {
		h.users.Add(1)
		c.push(on, h)
	}
}

// push puts h at the front of a shelf, and drops entries at the back until there is room.
func (c *Cache) push(on *shelf, h *entry) {
	for on.bytes+h.cost > on.bound && on.Len() > 0 {
		c.drop(on.Back().Value.(*entry))
	}
	h.on, h.at = on, on.PushFront(h)
	on.bytes += h.cost
	c.all[h.address] = h
}

// drop takes h off its shelf.
func (c *Cache) drop(h *entry) {
	h.on.Remove(h.at)
	h.on.bytes -= h.cost
	delete(c.all, h.address)
	if h.bytes != nil {
		h.release()
	}
}

// has reports whether bytes are kept under an address.
func (c *Cache) has(a address) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.all[a]
	return h != nil && h.bytes != nil
}
