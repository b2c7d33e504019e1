package chunk

import (
	"bytes"
	"container/list"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/dbtest"
	"vfsdb/schema"
)

// zeroed makes every blob of a file damaged: whatever is right from then on comes out of memory.
func zeroed(t testing.TB, db *schema.DB) {
	t.Helper()
	dbtest.Exec(t, db, `UPDATE blob SET codec = 0, data = zeroblob(size)`)
}

// forgetChains has a test begin as a process does. Parts that are read by chains do not come into a cache.
func forgetChains() { chains = chainShelf{all: make(map[Sum]*list.Element)} }

// part reads a range through a cache.
func part(t testing.TB, db *schema.DB, cache *Cache, c Content, off int64, n int) (p []byte, err error) {
	t.Helper()
	p = make([]byte, n)
	view(t, db, func(tx *schema.Tx) { n, err = cache.Read(tx, c, p, off) })
	if err == io.EOF {
		err = nil
	}
	return p[:n], err
}

func TestCacheKeeps(t *testing.T) {
	const large = 5*Size + 1000
	for _, tt := range []struct {
		name string
		size int
		off  int64
		n    int
		kept bool
	}{
		{"short content", 1000, 0, 1000, true},
		{"a part of short content", 1000, 10, 20, true},
		{"the most that is kept whole", wholeLimit, 0, wholeLimit, true},
		{"a whole chunk", Size, 0, Size, false},
		{"a part of a chunk", Size, 100, Size - 100, true},
		{"a part of a chunk of many", large, Size + 10, 4096, true},
		{"the start of a chunk of many", large, 2 * Size, 4096, true},
		{"over the edge of two chunks", large, Size - 10, 20, true},
		{"the short end", large, 5*Size + 10, 100, true},
		{"whole chunks of many", large, Size, 2 * Size, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			forgetChains()
			db, cache := dbtest.Open(t), NewCache()
			want := noise(1, tt.size)
			c := put(t, db, want)
			_, ok := cache.Peek(c, tt.off, int64(tt.n))
			require.False(t, ok, "nobody has read it")
			got, err := part(t, db, cache, c, tt.off, tt.n)
			require.NoError(t, err)
			require.True(t, bytes.Equal(want[tt.off:tt.off+int64(tt.n)], got))
			clear(got) // which is the caller's

			zeroed(t, db)
			got, err = part(t, db, cache, c, tt.off, tt.n)
			peeked, ok := cache.Peek(c, tt.off, int64(tt.n))
			require.Equal(t, tt.kept, ok)
			if !tt.kept {
				require.ErrorIs(t, err, ErrCorrupt)
				return
			}
			require.NoError(t, err)
			require.True(t, bytes.Equal(want[tt.off:tt.off+int64(tt.n)], got))
			require.True(t, bytes.Equal(got, peeked))
			clear(peeked)
			again, ok := cache.Peek(c, tt.off, int64(tt.n))
			require.True(t, ok)
			require.True(t, bytes.Equal(got, again), "what Peek returned before was changed by its caller")

			view(t, db, func(tx *schema.Tx) {
				_, err := Read(tx, c, make([]byte, tt.n), tt.off)
				require.ErrorIs(t, err, ErrCorrupt, "who looks for damage reads without a cache")
			})
			cache.Close()
			_, err = part(t, db, cache, c, tt.off, tt.n)
			require.ErrorIs(t, err, ErrCorrupt, "a closed cache keeps nothing")
			require.Empty(t, cache.all)
		})
	}
}

// Damaged content is not kept, and neither is it after it was mended under another id.
func TestCacheOfDamage(t *testing.T) {
	db, cache := dbtest.Open(t), NewCache()
	for _, size := range []int{1000, Size + 1000} {
		c := put(t, db, noise(uint64(size), size))
		zeroed(t, db)
		for range 2 {
			_, err := part(t, db, cache, c, 0, 500)
			require.ErrorIs(t, err, ErrCorrupt)
			_, ok := cache.Peek(c, 0, 500)
			require.False(t, ok)
		}
	}
}

// A transaction that writes may be undone, and its ids are given out once more.
func TestCacheAfterRollback(t *testing.T) {
	for _, size := range []int{1000, Size + 1000} {
		db, cache := dbtest.Open(t), NewCache()
		undone := errors.New("undone")
		was, is := noise(1, size), noise(2, size)
		var lost Content
		read := func(tx *schema.Tx, c Content, want []byte) {
			for _, n := range []int{10, size} {
				p := make([]byte, n)
				_, err := cache.Read(tx, c, p, 0)
				require.NoError(t, err)
				require.True(t, bytes.Equal(want[:n], p))
			}
		}
		require.ErrorIs(t, db.Update(t.Context(), func(tx *schema.Tx) (err error) {
			lost, err = Put(tx, was)
			require.NoError(t, err)
			read(tx, lost, was)
			return undone
		}), undone)
		c := put(t, db, is)
		require.Equal(t, lost, c, "the ids were not given out again, so this proves nothing")
		view(t, db, func(tx *schema.Tx) { read(tx, c, is) })
		update(t, db, func(tx *schema.Tx) { read(tx, c, is) })
	}
}

// A cache never takes more memory than it may, whatever is read through it, and always returns the bytes that were written.
func TestCacheIsBounded(t *testing.T) {
	forgetChains()
	db, cache := dbtest.Open(t), NewCache()
	cache.wholes.bound, cache.asked.bound, cache.parts.bound = 2<<20, 2<<20, 3<<20
	r := rand.New(rand.NewPCG(1, 2))
	type file struct {
		c    Content
		data []byte
	}
	var files []file
	for n := range 150 {
		size := 1 + r.IntN(4000)
		switch {
		case n%10 == 0:
			size = r.IntN(6 * Size)
		case n%2 == 0:
			size = r.IntN(wholeLimit + 1000)
		}
		data := noise(uint64(n), size)
		files = append(files, file{put(t, db, data), data})
	}
	for range rounds(3000) {
		f := files[r.IntN(len(files))]
		off, n := 0, len(f.data)
		if r.IntN(2) == 0 {
			off = r.IntN(len(f.data) + 1)
			n = r.IntN(min(10_000, len(f.data)-off) + 1)
		}
		got, err := part(t, db, cache, f.c, int64(off), n)
		require.NoError(t, err)
		require.True(t, bytes.Equal(f.data[off:off+n], got))
		bounded(t, cache)
	}
	require.Greater(t, cache.wholes.bytes, cache.wholes.bound*3/4, "it was never full")
	require.Greater(t, cache.parts.bytes, cache.parts.bound*3/4)
	require.NotZero(t, cache.asked.Len())
}

// bounded verifies the bounds and the counts of a cache.
func bounded(t testing.TB, c *Cache) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, s := range []*shelf{&c.wholes, &c.parts, &c.asked} {
		sum := 0
		for e := s.Front(); e != nil; e = e.Next() {
			h := e.Value.(*entry)
			require.Same(t, h, c.all[h.address])
			room := cap(h.bytes)
			if h.buf != nil {
				room = len(h.buf)
			}
			if s != &c.asked {
				require.LessOrEqual(t, room, h.cost+h.cost/4, "of %d bytes", len(h.bytes)) // allocation rounds up
			}
			sum += h.cost
			n++
		}
		require.Equal(t, sum, s.bytes)
		require.LessOrEqual(t, s.bytes, s.bound)
	}
	require.Len(t, c.all, n)
}

// Many goroutines read the same contents through one cache while these are evicted.
func TestCacheTogether(t *testing.T) {
	db, cache := dbtest.Open(t), NewCache()
	data := noise(1, 40*Size+77)
	c := put(t, db, data)
	var short []Content
	for n := range 400 {
		short = append(short, put(t, db, data[n*100_000/2:][:60_000]))
	}
	var g sync.WaitGroup
	for n := range 4 {
		g.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 2))
			reader := cache.NewReader(c)
			defer reader.Release()
			p := make([]byte, 60_000)
			for range rounds(300) {
				off := r.IntN(len(data) - len(p))
				view(t, db, func(tx *schema.Tx) {
					_, err := reader.ReadAt(tx, p, int64(off))
					require.NoError(t, err)
				})
				require.True(t, bytes.Equal(data[off:off+len(p)], p))
				i := r.IntN(len(short))
				got, ok := cache.Peek(short[i], 0, int64(len(p)))
				if !ok {
					var err error
					got, err = part(t, db, cache, short[i], 0, len(p))
					require.NoError(t, err)
				}
				require.True(t, bytes.Equal(data[i*100_000/2:][:len(p)], got))
			}
		})
	}
	g.Wait()
	bounded(t, cache)
}

// A stream skips the cache, however small its steps are, and so does a scan that reads everything once.
func TestStreamsTakeNothingFromTheCache(t *testing.T) {
	forgetChains()
	db, cache := dbtest.Open(t), NewCache()
	hot := put(t, db, noise(1, 5000))
	warm := put(t, db, noise(2, Size))
	long := put(t, db, noise(3, 24*Size+5))
	for _, c := range []Content{hot, warm} {
		_, err := part(t, db, cache, c, 0, 4000)
		require.NoError(t, err)
	}
	for _, step := range []int{Size, 32 << 10, 3*Size + 1, 70_001} {
		reader := cache.NewReader(long)
		p := make([]byte, step)
		for off := int64(0); off < long.Size; off += int64(step) {
			if _, ok, _ := reader.ReadHeld(p, off); ok { // which is what an open file tries first
				continue
			}
			view(t, db, func(tx *schema.Tx) {
				_, err := reader.ReadAt(tx, p, off)
				if err != io.EOF {
					require.NoError(t, err)
				}
			})
		}
		reader.Release()
	}
	require.LessOrEqual(t, cache.parts.Len(), 6, "the chunk in use, the manifest, and where streams began")

	for n := range 600 { // more than there is room for
		c := put(t, db, noise(uint64(10+n), 50_000))
		_, err := part(t, db, cache, c, 0, 50_000)
		require.NoError(t, err)
	}
	for _, c := range []Content{hot, warm} {
		_, ok := cache.Peek(c, 0, 4000)
		require.True(t, ok)
	}
	for _, size := range []int{50_000, Size} {
		again := put(t, db, noise(1000, size))
		for n := range 3 {
			_, ok := cache.Peek(again, 0, int64(size))
			require.Equal(t, n == 2, ok, "what is asked for twice comes to stay")
			_, err := part(t, db, cache, again, 0, size)
			require.NoError(t, err)
		}
	}
	bounded(t, cache)
}

// BenchmarkPeek copies kept content, by one and by all goroutines.
func BenchmarkPeek(b *testing.B) {
	db, cache := dbtest.Open(b), NewCache()
	for _, size := range []int{100, 1 << 10, 10 << 10, 50 << 10} {
		var all []Content
		for n := range 200 {
			c := put(b, db, noise(uint64(n), size))
			_, err := part(b, db, cache, c, 0, size)
			require.NoError(b, err)
			all = append(all, c)
		}
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for i := 0; b.Loop(); i++ {
				if _, ok := cache.Peek(all[i%len(all)], 0, int64(size)); !ok {
					b.Fatal("not kept")
				}
			}
		})
		b.Run(fmt.Sprint(size, "/parallel"), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					if _, ok := cache.Peek(all[i%len(all)], 0, int64(size)); !ok {
						b.Error("not kept")
					}
				}
			})
		})
	}
}

// Content in memory is read without a transaction, and only that.
func TestReadHeld(t *testing.T) {
	forgetChains()
	db, cache := dbtest.Open(t), NewCache()
	want := noise(5, 3*Size+100)
	clear(want[Size : 2*Size])
	c := put(t, db, want)
	reader, other := cache.NewReader(c), NewReader(c)
	defer reader.Release()
	defer other.Release()
	held := func(r *Reader, off int64, n int) bool {
		p := make([]byte, n)
		got, ok, err := r.ReadHeld(p, off)
		if !ok {
			require.Zero(t, got)
			require.NoError(t, err)
			return false
		}
		require.True(t, bytes.Equal(want[min(off, c.Size):min(off+int64(n), c.Size)], p[:got]))
		require.Equal(t, got < n, err == io.EOF)
		return true
	}
	require.False(t, held(reader, 5, 10))
	for _, off := range []int64{5, 3*Size + 5} {
		_, err := part(t, db, cache, c, off, 10)
		require.NoError(t, err)
	}
	for _, r := range []*Reader{other, reader} {
		view(t, db, func(tx *schema.Tx) {
			_, err := r.ReadAt(tx, make([]byte, 10), 2*Size+5)
			require.NoError(t, err)
		})
	}
	for _, tt := range []struct {
		off         int64
		n           int
		held, alone bool // with a cache, and without
	}{
		{2*Size + 70_000, 4096, true, true},
		{3*Size - 50, 100, true, false},
		{0, 4096, true, false},
		{Size - 100, 300, true, false},
		{Size + 100, 300, true, true}, // a hole
		{3*Size + 50, 50, true, false},
		{3*Size + 50, 60, true, false},
		{c.Size, 1, true, true},
		{c.Size + 5, 1, true, true},
		{1 << 62, 100, true, true},
		{0, peekLimit + 1, false, false},
	} {
		require.Equal(t, tt.held, held(reader, tt.off, tt.n), "%d at %d", tt.n, tt.off)
		require.Equal(t, tt.alone, held(other, tt.off, tt.n), "%d at %d", tt.n, tt.off)
	}
	cache.Close()
	require.False(t, held(reader, 0, 10))
}
