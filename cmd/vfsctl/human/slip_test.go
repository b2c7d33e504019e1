package human

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"ls", "sl", 1}, {"abc", "abd", 1}, {"kitten", "sitting", 3}, {"import", "imprt", 1}} {
		require.Equal(t, tt.want, distance(tt.a, tt.b), tt)
		require.Equal(t, tt.want, distance(tt.b, tt.a), tt)
	}
}
