package gc

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A batch comes to take about as long as it should, however long one of its parts takes. A single slow step does not
// make it small.
func TestBatch(t *testing.T) {
	for _, part := range []time.Duration{200 * time.Nanosecond, 20 * time.Microsecond, 700 * time.Microsecond, 20 * time.Millisecond} {
		b := batch{n: 8, least: 1, most: 4096}
		for range 20 {
			b.took(part * time.Duration(b.n))
		}
		want := min(max(int(aimHold/part), b.least), b.most)
		require.InDelta(t, want, b.n, 1, part)
		b.took(time.Hour)
		require.GreaterOrEqual(t, b.n, want/2-1)
		b.took(0)
		require.LessOrEqual(t, b.n, b.most)
	}
}
