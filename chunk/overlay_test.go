package chunk

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// However a file is written to, the writes that wait for a commit take no more memory than promised; small ones take little.
func TestOverlayIsBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, write := range map[string]func(i int) (off int64, n int){
		"forwards":            func(i int) (int64, int) { return int64(i) * 4096, 4096 },
		"backwards":           func(i int) (int64, int) { return 64<<20 - int64(i+1)*4096, 4096 },
		"whole chunks":        func(i int) (int64, int) { return int64(i) * Size, Size },
		"both ends of chunks": func(i int) (int64, int) { return int64(i/2)*Size + int64(i%2)*(Size-1), 1 },
		"at random":           func(int) (int64, int) { return rng.Int64N(64 << 20), 1 + rng.IntN(9000) },
		"one chunk at random": func(int) (int64, int) { return rng.Int64N(Size), 1 + rng.IntN(9000) },
	} {
		t.Run(name, func(t *testing.T) {
			var o Overlay
			for i := range 5000 {
				off, n := write(i)
				for n > 0 {
					if o.IsFull() {
						o = Overlay{}
					}
					done := o.Write(make([]byte, n), off)
					off, n = off+int64(done), n-done
					taken := 0
					for _, c := range o.windows {
						taken += cap(c.data)
					}
					require.Equal(t, taken, o.bytes)
					require.LessOrEqual(t, taken, 8<<20)
				}
			}
		})
	}
	var o Overlay
	o.Write([]byte("x"), Size-1)
	require.Less(t, o.bytes, 100)
}
