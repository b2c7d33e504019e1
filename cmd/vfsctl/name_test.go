package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPrintable(t *testing.T) {
	require.Equal(t, `a\x1b[31mb`, printable("a\x1b[31mb"))
	require.Equal(t, "naïve ☃\n", printable("naïve ☃\n"))
	require.Equal(t, `'it'\''s' '' 'a b' a=b`, commandLine("it's", "", "a b", "a=b"))
}
