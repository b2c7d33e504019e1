package chunk

import (
	"container/list"
	"encoding/binary"
	"math/bits"
	"sync"

	"lukechampine.com/blake3/guts"
)

// partSize is how much of a chunk has a chaining value of its own in a chain.
const partSize = guts.MaxSIMD * guts.ChunkSize

// A chain is the chaining values of the parts of a chunk. BLAKE3 is a tree, and these are its nodes above the parts: when
// one part changes, the sum follows from the values of the others without their bytes. A chain has at least two parts.
type chain [][8]uint32

// chainOf returns the chain of a chunk that is longer than a part.
func chainOf(p []byte) chain {
	c := make(chain, partsOf(len(p)))
	for n := range c {
		c[n] = link(n, partOf(p, n))
	}
	return c
}

// partsOf returns how many parts a chunk has.
func partsOf(length int) int { return (length + partSize - 1) / partSize }

// partOf returns part n of a chunk.
func partOf(p []byte, n int) []byte { return p[n*partSize : min(len(p), (n+1)*partSize)] }

// link returns the value of part n.
func link(n int, p []byte) [8]uint32 {
	var tail [partSize]byte
	bytes := &tail
	if len(p) == partSize {
		bytes = (*[partSize]byte)(p)
	} else {
		copy(tail[:], p)
	}
	return guts.ChainingValue(guts.CompressBuffer(bytes, len(p), &guts.IV, uint64(n)*guts.MaxSIMD, 0))
}

// sum returns the sum of the chunk.
func (c chain) sum() (sum Sum) {
	root := c.node()
	root.Flags |= guts.FlagRoot
	words := guts.CompressNode(root)
	for i := range len(sum) / 4 {
		binary.LittleEndian.PutUint32(sum[4*i:], words[i])
	}
	return sum
}

// node returns the node above all of c. The one below it to the left has the largest power of two of parts that leaves
// some for the right.
func (c chain) node() guts.Node {
	left := 1 << (bits.Len(uint(len(c)-1)) - 1)
	return guts.ParentNode(c[:left].value(), c[left:].value(), &guts.IV, 0)
}

func (c chain) value() [8]uint32 {
	if len(c) == 1 {
		return c[0]
	}
	return guts.ChainingValue(c.node())
}

// chains are those of the chunks that this process has lately changed a little, or read in part: the next small change of
// one of them neither loads nor hashes the rest of it, nor does the next small read. A chain is right for every chunk with
// its sum, in any store. They take 3 MiB at most.
var chains = chainShelf{all: make(map[Sum]*list.Element)}

// maxChains is how many chains are kept: those of a file of 1 GiB.
const maxChains = 2048

// A chainShelf keeps the chains that were used last. It is safe for concurrent use.
type chainShelf struct {
	mu    sync.Mutex
	all   map[Sum]*list.Element
	order list.List // of namedChain, the one used last at the front
}

type namedChain struct {
	sum   Sum
	chain chain
	asked *int // how often forPart was called
}

// get returns the chain of the chunk with a sum, or nil. Nobody changes it.
func (s *chainShelf) get(sum Sum) chain {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.touch(sum).chain
}

// touch moves the chain of the chunk with a sum to the front, and returns it; the zero value if there is none.
func (s *chainShelf) touch(sum Sum) (named namedChain) {
	if at := s.all[sum]; at != nil {
		s.order.MoveToFront(at)
		named = at.Value.(namedChain)
	}
	return named
}

// forPart is get for a read of a part of the chunk. After many of those it returns nil once, so that the chunk is loaded
// whole and comes into the cache.
func (s *chainShelf) forPart(sum Sum) chain {
	s.mu.Lock()
	defer s.mu.Unlock()
	named := s.touch(sum)
	if named.chain == nil {
		return nil
	}
	if *named.asked++; *named.asked > manyParts {
		*named.asked = 0
		return nil
	}
	return named.chain
}

// put keeps the chain of a chunk. It replaces that of the sum that the chunk had before, or the one unused for longest.
func (s *chainShelf) put(sum Sum, c chain, before Sum) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.all[before]; at != nil {
		s.drop(at)
	}
	if s.all[sum] != nil {
		return
	}
	s.all[sum] = s.order.PushFront(namedChain{sum, c, new(int)})
	if s.order.Len() > maxChains {
		s.drop(s.order.Back())
	}
}

func (s *chainShelf) drop(at *list.Element) {
	delete(s.all, s.order.Remove(at).(namedChain).sum)
}
