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

// A Cache keeps what was read and verified, for all who read the same file: to read it again costs no statement and no
// hash. It is never stale. What is under a sum is what has that sum, and what is under the id of a committed row never
// changes, because no id is given out twice; so only what a transaction read that does not write is put in. It is
// bounded by bytes, see [CacheBytes]. A Cache is safe for concurrent use; a nil one keeps nothing.
//
// Who looks for damage, as a check does, reads without one.
type Cache struct {
	mu     sync.Mutex
	closed bool
	all    map[address]*held
	wholes shelf // contents of one chunk
	parts  shelf // chunks of which a part was asked for, and manifests
	asked  shelf // what was asked for and not kept: addresses alone

	hits, misses int64 // of take
}

const (
	// CacheBytes is how much memory a Cache takes at most, besides what the readers in flight have.
	CacheBytes = wholeBytes + partBytes

	wholeBytes = 16 << 20
	partBytes  = 8 << 20

	// wholeLimit is how long content may be that is kept the first time that somebody reads all of it.
	wholeLimit = 128 << 10

	// heldBytes is what it takes to keep anything, beside its bytes.
	heldBytes = 256
)

// An address is what bytes are kept under: the row of a blob or a manifest, or the sum of a chunk; and how long it must
// be.
type address struct {
	kind int   // hold.Blob, hold.Manifest, or 0 for a sum
	id   int64 // of the row
	size int64 // of the content, or the chunk
	sum  Sum
}

// A held is verified bytes, which nobody changes while there are users.
type held struct {
	address address
	bytes   []byte
	buf     *buffer      // of bytes, if that is where they are
	users   atomic.Int32 // the cache is one of them
	cost    int

	on *shelf
	at *list.Element
}

// newHeld returns memory for a chunk, which has one user. A short one gets no more than it needs, since many may be
// kept.
func newHeld(a address) *held {
	h := &held{address: a}
	if h.users.Store(1); a.size < Size/8 {
		h.bytes = make([]byte, a.size)
	} else {
		h.buf = takeBuffer()
		h.bytes = h.buf[:a.size]
	}
	return h
}

// A shelf holds so many bytes. What was touched last is at the front; there is always room for one more at the back's
// expense.
type shelf struct {
	list.List
	bytes, bound int
}

// NewCache returns an empty Cache. It takes no memory before something is read.
func NewCache() *Cache {
	return &Cache{
		all:    make(map[address]*held),
		wholes: shelf{bound: wholeBytes},
		parts:  shelf{bound: partBytes},
		asked:  shelf{bound: wholeBytes},
	}
}

// Metrics returns how often content was looked for in the Cache and found, and not found, since it was made, and how
// many bytes it keeps now.
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

// NewPassing is NewReader for those who go through very much once: they get what is kept, and leave nothing behind.
func (c *Cache) NewPassing(content Content) *Reader {
	return &Reader{cache: c, passing: true, content: content, at: -1}
}

// peekLimit is how much of a content Peek returns at most.
const peekLimit = Size

// Peek returns a copy of n bytes of content from off on, fewer where it ends, if all of them are kept. It needs no
// transaction. ok is false where only Read can tell: content that is not kept, is damaged, or would be long to copy.
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
		return p, int64(got) == n && (err == nil || err == io.EOF) // what was there may be gone
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

// take returns what is kept under an address, or nil. The caller is one more user, until it calls release.
func (c *Cache) take(a address) *held {
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

// release ends the use of h. The buffer of what nobody uses any more goes to somebody else.
func (h *held) release() {
	if h.users.Add(-1) == 0 && h.buf != nil {
		giveBuffer(h.buf)
	}
}

// offer has a copy kept of what was read whole, if that is worthwhile.
func (c *Cache) offer(a address, p []byte) {
	if c != nil && c.wants(a, len(p)+heldBytes) {
		c.put(&held{address: a, bytes: bytes.Clone(p)})
	}
}

// wants reports whether something is worth a copy: it is short and there is room, or it was asked for before, not long
// ago. So those who read very many files once take nothing from those who read a few often.
func (c *Cache) wants(a address, cost int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.all[a] != nil || cost <= wholeLimit+heldBytes && c.wholes.bytes+cost <= c.wholes.bound {
		return !c.closed
	}
	c.push(&c.asked, &held{address: a, cost: cost})
	return false
}

// put keeps h, which then has one more user, unless it would take a great part of what there is room for.
func (c *Cache) put(h *held) {
	if c == nil {
		return
	}
	on := &c.wholes
	if h.buf != nil || h.address.kind == hold.Manifest {
		on = &c.parts
	}
	h.cost = heldBytes + len(h.bytes)
	if h.buf != nil {
		h.cost = heldBytes + len(h.buf)
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

// push puts h on a shelf, and what there is no room for any more off it.
func (c *Cache) push(on *shelf, h *held) {
	for on.bytes+h.cost > on.bound && on.Len() > 0 {
		c.drop(on.Back().Value.(*held))
	}
	h.on, h.at = on, on.PushFront(h)
	on.bytes += h.cost
	c.all[h.address] = h
}

// drop takes h off its shelf.
func (c *Cache) drop(h *held) {
	h.on.Remove(h.at)
	h.on.bytes -= h.cost
	delete(c.all, h.address)
	if h.bytes != nil {
		h.release()
	}
}

// has reports whether something is kept under an address.
func (c *Cache) has(a address) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.all[a]
	return h != nil && h.bytes != nil
}
