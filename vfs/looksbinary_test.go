package vfs_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/vfs"
)

// A NUL counts among the first 8192 bytes.
func TestLooksBinary(t *testing.T) {
	text := bytes.Repeat([]byte{'x'}, 10000)
	require.False(t, vfs.LooksBinary(nil))
	require.False(t, vfs.LooksBinary(text))
	require.True(t, vfs.LooksBinary([]byte{0}))
	text[8192] = 0
	require.False(t, vfs.LooksBinary(text))
	text[8191] = 0
	require.True(t, vfs.LooksBinary(text))
}
