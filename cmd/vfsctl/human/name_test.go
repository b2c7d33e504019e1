package human

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPrintable(t *testing.T) {
	require.Equal(t, `a\x1b[31mb`, Escape("a\x1b[31mb"))
	require.Equal(t, "naïve ☃\n", Escape("naïve ☃\n"))
	require.Equal(t, `'it'\''s' '' 'a b' a=b`, CommandLine("it's", "", "a b", "a=b"))
}
