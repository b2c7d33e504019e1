package chunk

import (
	"io"
	"sync"

	"vfsdb/schema"
)

// A Cache keeps short contents that were loaded and verified, by the number of their blob: a number is never given to
// other bytes, so nothing in it is ever stale. It is safe for concurrent use. The zero value is ready.
type Cache struct {
	mu   sync.Mutex
	held map[int64][]byte
	size int
}

const (
	// CacheSize bounds what a Cache holds, in bytes.
	CacheSize = 32 << 20

	// cacheable is how long a content may be to be kept. Longer ones cost little per byte to load again.
	cacheable = 64 << 10
)

// Read is [Read] of a content's beginning, from memory if it can be. A transaction that writes passes by: the numbers
// that it gives out are given out again if it is rolled back.
func (c *Cache) Read(tx *schema.Tx, content Content, p []byte) (int, error) {
	if content.Blob == 0 || content.Size > cacheable || int64(len(p)) != content.Size || tx.Writable() {
		return Read(tx, content, p, 0)
	}
	if c.get(content.Blob, p) {
		return len(p), nil
	}
	n, err := Read(tx, content, p, 0)
	if n == len(p) && (err == nil || err == io.EOF) {
		c.put(content.Blob, p)
	}
	return n, err
}

func (c *Cache) get(blob int64, p []byte) bool {
	c.mu.Lock()
	data, ok := c.held[blob]
	c.mu.Unlock()
	return ok && copy(p, data) == len(p)
}

// put keeps a copy of p. Whatever the map yields first makes room: a random choice needs no order to be kept.
func (c *Cache) put(blob int64, p []byte) {
	data := append([]byte(nil), p...)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		c.held = make(map[int64][]byte)
	}
	c.size += len(data) - len(c.held[blob])
	c.held[blob] = data
	for other, old := range c.held {
		if c.size <= CacheSize {
			break
		}
		if other != blob {
			c.size -= len(old)
			delete(c.held, other)
		}
	}
}
