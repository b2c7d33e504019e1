package durable

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/schema/engine/powerloss"
)

func TestMain(m *testing.M) { vfstest.Main(m) }

// little is what an agent does: single files, parts of one, many at once, snapshots, a collection, and several
// goroutines.
func little(s *tale) {
	a := s.write("a", 3000)
	s.patch("a", a)
	s.many("m", 5)
	s.snapshot("one")
	s.write("b", 700_000)
	s.group("g")
	s.collect("m0")
	s.patch("b", s.write("b", 100_000))
	s.snapshot("two")
	for i := range 3 {
		s.write(fmt.Sprint("c", i), 1000)
	}
}

// long is a stream that is staged and checkpointed beside, with a log that is begun anew, and what an agent does then.
func long(s *tale) {
	s.write("a", 3000)
	s.stream("stream", streamSize, s.sum)
	s.pull(false)
	s.patch("a", s.write("a", 5000))
	s.collect("stream")
	s.write("b", 3000)
}

const streamSize = 26 << 20

// Whatever sync fails, and if the next one fails too, nothing that was acknowledged is lost. One failure is mended, so
// nobody sees it.
func TestPowerLoss(t *testing.T) {
	sum := noiseSum(t, streamSize)
	for _, tt := range []struct {
		name   string
		life   func(*tale)
		behind int
		stride int // without VFS_LONG
	}{
		{"an agent", little, 0, 1},
		{"an agent, twice", little, 1, 4},
		{"a stream", long, 0, 4},
		{"a stream, twice", long, 1, 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if os.Getenv("VFS_LONG") != "" {
				tt.stride = 1
			}
			for k, failed := 1, 1; failed > 0 && k < 1000; k += tt.stride { // with -run of one place, none fails
				t.Run(fmt.Sprint(k), func(t *testing.T) {
					failed = 0
					s := begin(t, uint64(k), func(h *powerloss.Host) { h.Fail(k, tt.behind) })
					s.sum = sum
					tt.life(s)
					s.pull(k%2 == 0)
					err := s.fsys.Close()
					if tt.behind == 0 {
						require.Empty(t, s.failures)
						require.NoError(t, err)
					}
					s.pull(k%2 == 1)
					_, _, failed = s.host.Counts()
				})
			}
		})
	}
}
