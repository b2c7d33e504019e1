//go:build linux && (amd64 || arm64 || loong64 || ppc64le || riscv64 || s390x)

package engine

import (
	"math/bits"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	pageSize = 8192
	slotSize = pageSize + 512 // the engine's allocation for a page, and some room
	areaSize = 2 << 20        // a large page of most hosts
	slots    = areaSize / slotSize
	areas    = 64
	spares   = 2 // how many unused areas keep their memory
)

// A pool is memory for pages of caches. The addresses of all of it are taken at once; the host gives memory for an area when
// it is first written to, mostly as one large page.
type pool struct {
	base uintptr // of the first area

	mu    sync.Mutex
	areas [areas]area
	spare int // unused areas with memory
}

// An area is slots for pages.
type area struct {
	used   [(slots + 63) / 64]uint64 // by slot, a bit each
	n      int                       // how many are used
	backed bool                      // it may have memory
}

// newPool takes the addresses; nil if the host refuses.
func newPool() *pool {
	m, err := unix.MmapPtr(-1, 0, nil, (areas+1)*areaSize,
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	p := &pool{base: (uintptr(m) + areaSize - 1) &^ (areaSize - 1)}
	_ = unix.Madvise(view(p.base, areas*areaSize), unix.MADV_HUGEPAGE) // if it fails, it is small pages
	return p
}

// has reports whether an address is in the pool.
func (p *pool) has(addr uintptr) bool { return addr-p.base < areas*areaSize }

// take returns the address of a slot; 0 if all are taken.
func (p *pool) take() uintptr {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.areas {
		a := &p.areas[i]
		if a.n == slots {
			continue
		}
		if a.n == 0 && a.backed {
			p.spare--
		}
		a.n, a.backed = a.n+1, true
		return p.base + uintptr(i*areaSize+a.first()*slotSize)
	}
	return 0
}

// first marks the first free slot as used, and returns its number.
func (a *area) first() int {
	i := 0
	for ^a.used[i] == 0 {
		i++
	}
	bit := bits.TrailingZeros64(^a.used[i])
	a.used[i] |= 1 << bit
	return i*64 + bit
}

// give takes a slot back.
func (p *pool) give(addr uintptr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, slot := (addr-p.base)/areaSize, (addr-p.base)%areaSize/slotSize
	a := &p.areas[i]
	if a.used[slot/64]&(1<<(slot%64)) == 0 {
		panic("engine: the memory of a page is given back twice")
	}
	a.used[slot/64] &^= 1 << (slot % 64)
	if a.n--; a.n > 0 {
		return
	}
	if p.spare < spares {
		p.spare++
		return
	}
	a.backed = false
	_ = unix.Madvise(view(p.base+i*areaSize, areaSize), unix.MADV_DONTNEED)
}

// pages is the pool of this process; nil if there is none. allocator allocates all other memory of the engine, and all of it
// before there was a pool.
var (
	pages     *pool
	allocator sqlite3.Tsqlite3_mem_methods
)

// The engine takes other methods for its memory only before it is first used. If that is too late, it goes on with its own.
func init() {
	if pages = newPool(); pages == nil {
		return
	}
	tls := libc.NewTLS()
	defer tls.Close()
	methods, args := malloc(tls, int(unsafe.Sizeof(allocator))), malloc(tls, 8)
	defer libc.Xfree(tls, methods)
	defer libc.Xfree(tls, args)
	if sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_GETMALLOC, libc.VaList(args, methods)) != sqlite3.SQLITE_OK {
		return
	}
	allocator = *at[sqlite3.Tsqlite3_mem_methods](methods)
	ours := at[sqlite3.Tsqlite3_mem_methods](methods)
	ours.FxMalloc, ours.FxFree = address(pageMalloc), address(pageFree)
	ours.FxRealloc, ours.FxSize = address(pageRealloc), address(pageMemory)
	sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MALLOC, libc.VaList(args, methods))
}

// pageMalloc is xMalloc.
func pageMalloc(tls *libc.TLS, n int32) uintptr {
	if n > pageSize && n <= slotSize {
		if addr := pages.take(); addr != 0 {
			return addr
		}
	}
	return method[func(*libc.TLS, int32) uintptr](allocator.FxMalloc)(tls, n)
}

// pageFree is xFree.
func pageFree(tls *libc.TLS, addr uintptr) {
	if pages.has(addr) {
		pages.give(addr)
		return
	}
	method[func(*libc.TLS, uintptr)](allocator.FxFree)(tls, addr)
}

// pageRealloc is xRealloc.
func pageRealloc(tls *libc.TLS, addr uintptr, n int32) uintptr {
	if !pages.has(addr) {
		return method[func(*libc.TLS, uintptr, int32) uintptr](allocator.FxRealloc)(tls, addr, n)
	}
	if n <= slotSize {
		return addr
	}
	larger := method[func(*libc.TLS, int32) uintptr](allocator.FxMalloc)(tls, n)
	if larger != 0 {
		copy(view(larger, slotSize), view(addr, slotSize))
		pages.give(addr)
	}
	return larger
}

// pageMemory is xSize.
func pageMemory(tls *libc.TLS, addr uintptr) int32 {
	if pages.has(addr) {
		return slotSize
	}
	return method[func(*libc.TLS, uintptr) int32](allocator.FxSize)(tls, addr)
}
