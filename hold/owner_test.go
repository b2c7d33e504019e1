package hold

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDeadByAge(t *testing.T) {
	now := time.Now().UnixNano()
	ago := func(d time.Duration) int64 { return now - int64(d) }
	for _, name := range []string{owner(), "elsewhere/1", "", "a/b/c/d", "a/b/1/d/e"} {
		require.False(t, Dead(name, ago(0), now), name)
		require.False(t, Dead(name, ago(59*time.Second), now), name)
		require.False(t, Dead(name, ago(-time.Hour), now), name)
		require.True(t, Dead(name, ago(61*time.Second), now), name)
	}
}
