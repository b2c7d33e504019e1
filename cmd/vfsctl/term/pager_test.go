package term

import (
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A writer never waits for a pager, and gets to know that the user has ended it.
func TestQueue(t *testing.T) {
	from, to := io.Pipe()
	q := newQueue(to)
	for range 1000 { // nobody reads yet
		_, err := q.Write([]byte("line\n"))
		require.NoError(t, err)
	}
	read := make(chan string)
	go func() {
		data, _ := io.ReadAll(from)
		read <- string(data)
	}()
	require.NoError(t, q.Close())
	require.Equal(t, strings.Repeat("line\n", 1000), <-read)

	from, to = io.Pipe()
	q = newQueue(to)
	require.NoError(t, from.CloseWithError(syscall.EPIPE))
	_, err := q.Write([]byte("line\n"))
	require.NoError(t, err)
	require.ErrorIs(t, q.Close(), syscall.EPIPE)
	_, err = q.Write([]byte("line\n"))
	require.ErrorIs(t, err, syscall.EPIPE)
}
