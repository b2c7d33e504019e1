package chunk

import (
	"container/list"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The sum that follows from a chain is that of the bytes, for every number of parts and every length of the last.
func TestChain(t *testing.T) {
	p := noise(1, Size)
	for parts := 1; parts < Size/partSize; parts++ {
		for _, more := range []int{1, 63, 64, 65, 1023, 1024, 1025, 8191, 8192, 8193, partSize - 1, partSize} {
			n := parts*partSize + more
			require.Equal(t, SumOf(p[:n]), chainOf(p[:n]).sum(), n)
		}
	}
}

// Where one part changes, its link alone changes the sum.
func TestChainOfOnePart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := noise(2, 300_000)
	c := chainOf(p)
	for range 50 {
		at := rng.IntN(len(p))
		p[at]++
		n := at / partSize
		c[n] = link(n, partOf(p, n))
		require.Equal(t, SumOf(p), c.sum())
	}
}

func FuzzChain(f *testing.F) {
	f.Add([]byte("seed"), 100_000)
	f.Fuzz(func(t *testing.T, seed []byte, n int) {
		if n <= partSize || n > Size {
			return
		}
		p := make([]byte, n)
		for off := 0; off < n && len(seed) > 0; off += len(seed) {
			copy(p[off:], seed)
		}
		require.Equal(t, SumOf(p), chainOf(p).sum())
	})
}

// Chains that nobody asks for go, and so does that of a chunk before it changed.
func TestChainsAreBounded(t *testing.T) {
	shelf := chainShelf{all: make(map[Sum]*list.Element)}
	c := chainOf(noise(3, 2*partSize))
	sum := func(i int) Sum { return SumOf([]byte{byte(i), byte(i >> 8), 'c'}) }
	for i := range 3 * maxChains {
		shelf.put(sum(i), c, Sum{})
		shelf.put(sum(i), c, Sum{}) // it is there
		require.NotNil(t, shelf.get(sum(0)), "it is asked for")
	}
	require.Len(t, shelf.all, maxChains)
	require.Equal(t, maxChains, shelf.order.Len())
	require.Nil(t, shelf.get(sum(1)))
	require.NotNil(t, shelf.get(sum(3*maxChains-1)))
	shelf.put(sum(1), c, sum(0))
	require.Nil(t, shelf.get(sum(0)))
	require.NotNil(t, shelf.get(sum(1)))
	require.Len(t, shelf.all, maxChains)
}

func BenchmarkChain(b *testing.B) {
	p := noise(1, Size)
	b.Run("sum", func(b *testing.B) {
		b.SetBytes(Size)
		for b.Loop() {
			SumOf(p)
		}
	})
	b.Run("chain", func(b *testing.B) {
		b.SetBytes(Size)
		for b.Loop() {
			chainOf(p).sum()
		}
	})
	b.Run("one part", func(b *testing.B) {
		c := chainOf(p)
		for b.Loop() {
			c[7] = link(7, p[7*partSize:8*partSize])
			c.sum()
		}
	})
}
