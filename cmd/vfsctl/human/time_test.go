package human

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTook(t *testing.T) {
	for want, ns := range map[string]int64{
		"85 µs": 85e3, "1.25 ms": 1.25e6, "12.3 ms": 12.34e6, "999 ms": 999.4e6, "4.06 s": 4.061e9, "1m5s": 65e9,
	} {
		require.Equal(t, want, Took(time.Duration(ns)))
	}
	require.Equal(t, "1 file", Plural(1, "file", "files"))
	require.Equal(t, "2,345 files", Plural(2345, "file", "files"))
	require.Equal(t, "1.5 MiB", fmt.Sprint(Size(3<<19)))
}
