//go:build linux && (amd64 || arm64 || loong64 || ppc64le || riscv64 || s390x)

package engine

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"modernc.org/libc"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// No two slots that are taken share a byte, and all of them can be taken again once they were given back.
func TestPool(t *testing.T) {
	p := newPool()
	require.NotNil(t, p)
	for range 2 {
		taken := make(map[uintptr]bool)
		for range areas * slots {
			addr := p.take()
			require.NotZero(t, addr)
			require.True(t, p.has(addr) && p.has(addr+slotSize-1))
			taken[(addr-p.base)/areaSize<<32|(addr-p.base)%areaSize/slotSize] = true
			require.Zero(t, (addr-p.base)%areaSize%slotSize)
		}
		require.Len(t, taken, areas*slots)
		require.Zero(t, p.take(), "all are taken")
		require.Zero(t, p.spare)
		for i := range areas {
			for slot := range slots {
				p.give(p.base + uintptr(i*areaSize+slot*slotSize))
			}
		}
		require.Equal(t, spares, p.spare)
	}
	require.False(t, p.has(p.base-1))
	require.False(t, p.has(p.base+areas*areaSize))
	require.Panics(t, func() { p.give(p.base) })
}

// Bytes in a slot stay until it is given back, whatever happens to other slots. Memory that went back to the host in between
// has zeros or its old bytes, and never those of another slot.
func TestPoolIsShared(t *testing.T) {
	p := newPool()
	require.NotNil(t, p)
	var wg sync.WaitGroup
	for who := range 8 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(who), 1))
			mine := make(map[uintptr][]byte)
			for step := range 4000 {
				if random.IntN(1000) < 520 && step < 3000 {
					addr := p.take()
					want := bytes.Repeat([]byte{byte(1 + who), byte(step)}, slotSize/2)
					copy(view(addr, slotSize), want)
					mine[addr] = want
					continue
				}
				for addr, want := range mine {
					if !bytes.Equal(want, view(addr, slotSize)) {
						t.Errorf("slot %x of %d was written to", addr, who)
					}
					delete(mine, addr)
					p.give(addr)
					break
				}
			}
			for addr := range mine {
				p.give(addr)
			}
		})
	}
	wg.Wait()
	for i := range p.areas {
		require.Zero(t, p.areas[i].n)
	}
}

// A block that grows out of its slot takes its bytes along, and one of another size is the allocator's.
func TestPageMemory(t *testing.T) {
	tls := libc.NewTLS()
	defer tls.Close()
	addr := pageMalloc(tls, pageSize+1)
	require.True(t, pages.has(addr))
	require.EqualValues(t, slotSize, pageMemory(tls, addr))
	copy(view(addr, slotSize), bytes.Repeat([]byte{7}, slotSize))
	require.Equal(t, addr, pageRealloc(tls, addr, slotSize))
	larger := pageRealloc(tls, addr, 3*slotSize)
	require.False(t, pages.has(larger))
	require.Equal(t, bytes.Repeat([]byte{7}, slotSize), view(larger, slotSize))
	require.GreaterOrEqual(t, pageMemory(tls, larger), int32(3*slotSize))
	pageFree(tls, larger)
	for _, n := range []int32{1, pageSize, slotSize + 1} {
		addr := pageMalloc(tls, n)
		require.False(t, pages.has(addr), n)
		pageFree(tls, pageRealloc(tls, addr, n+1))
	}
}

// The engine keeps the pages of a connection's cache in the pool, and gives them back with the connection.
func TestPagesOfAConnection(t *testing.T) {
	before := pages.taken()
	c, err := sqlite.OpenConn(filepath.Join(t.TempDir(), "a.db"), sqlite.OpenReadWrite, sqlite.OpenCreate)
	require.NoError(t, err)
	require.NoError(t, sqlitex.ExecuteScript(c, `
		PRAGMA page_size = 8192;
		CREATE TABLE t (x);
		INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT zeroblob(8000) FROM n;`, nil))
	require.Greater(t, pages.taken(), before+100)
	require.NoError(t, c.Close())
	require.Equal(t, before, pages.taken())
}

func (p *pool) taken() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.areas {
		n += p.areas[i].n
	}
	return n
}
