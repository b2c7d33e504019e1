package tree

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
)

// However a file is written to, what waits for a commit takes no more memory than promised; small writes take little.
func TestOverlayIsBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, write := range map[string]func(i int) (off int64, n int){
		"forwards":            func(i int) (int64, int) { return int64(i) * 4096, 4096 },
		"backwards":           func(i int) (int64, int) { return 64<<20 - int64(i+1)*4096, 4096 },
		"whole chunks":        func(i int) (int64, int) { return int64(i) * chunk.Size, chunk.Size },
		"both ends of chunks": func(i int) (int64, int) { return int64(i/2)*chunk.Size + int64(i%2)*(chunk.Size-1), 1 },
		"at random":           func(int) (int64, int) { return rng.Int64N(64 << 20), 1 + rng.IntN(9000) },
		"one chunk at random": func(int) (int64, int) { return rng.Int64N(chunk.Size), 1 + rng.IntN(9000) },
	} {
		t.Run(name, func(t *testing.T) {
			var o overlay
			for i := range 5000 {
				off, n := write(i)
				for n > 0 {
					if o.full() {
						o = overlay{}
					}
					done := o.write(make([]byte, n), off)
					off, n = off+int64(done), n-done
					taken := 0
					for _, c := range o.pieces {
						taken += cap(c.data)
					}
					require.Equal(t, taken, o.bytes)
					require.LessOrEqual(t, taken, 8<<20)
				}
			}
		})
	}
	var o overlay
	o.write([]byte("x"), chunk.Size-1)
	require.Less(t, o.bytes, 100)
}
