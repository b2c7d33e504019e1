package figures_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/bench/figures"
)

func TestMedian(t *testing.T) {
	values := []float64{9, 1, 4}
	require.Equal(t, 4.0, figures.Median(values))
	require.Equal(t, []float64{9, 1, 4}, values, "they keep their order")
	require.Equal(t, 3*time.Second, figures.Median([]time.Duration{4 * time.Second, 2 * time.Second, time.Hour, 0}))
	require.Zero(t, figures.Median[float64](nil))
}
