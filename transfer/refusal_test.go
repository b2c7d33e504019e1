package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRefusedError(t *testing.T) {
	one := &RefusedError{[]Refusal{{Path: "a\nb", Why: "because"}}}
	require.Equal(t, `"a\nb" is refused: because`, one.Error())
	many := &RefusedError{}
	for n := range 13 {
		many.Refused = append(many.Refused, Refusal{Path: fmt.Sprint(n), Why: "because", err: syscall.ELOOP})
	}
	require.Equal(t, maxNamed+2, len(strings.Split(many.Error(), "\n")))
	require.Contains(t, many.Error(), "13 entries")
	require.Contains(t, many.Error(), "and 3 more")
	require.ErrorIs(t, many, syscall.ELOOP)
	require.False(t, errors.Is(many, syscall.EIO))
}

// A refusal says why, in our words where we have some, and the path only once.
func TestReason(t *testing.T) {
	inner := fmt.Errorf("a name with ..: %w", syscall.EINVAL)
	for _, err := range []error{inner, &fs.PathError{Op: "open", Path: "x", Err: inner}, &os.LinkError{Op: "link", Old: "x", New: "y", Err: inner}} {
		require.Equal(t, "a name with ..: "+syscall.EINVAL.Error(), reason(err))
	}
	require.Equal(t, syscall.EACCES.Error(), reason(&fs.PathError{Op: "open", Path: "x", Err: os.NewSyscallError("openat", syscall.EACCES)}))
}
