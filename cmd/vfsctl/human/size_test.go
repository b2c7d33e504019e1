package human

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "512": 512, "1k": 1024, "10MB": 10 << 20, "10MiB": 10 << 20, "1.5 GiB": 3 << 29, "2G": 2 << 30,
	} {
		got, err := ParseSize(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "x", "-1", "10 apples"} {
		_, err := ParseSize(text)
		require.Error(t, err, text)
	}
}
