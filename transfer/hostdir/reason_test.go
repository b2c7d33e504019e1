package hostdir

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A reason says why, in our words where we have some, and the path only once.
func TestReason(t *testing.T) {
	inner := fmt.Errorf("a name with ..: %w", syscall.EINVAL)
	for _, err := range []error{inner, &fs.PathError{Op: "open", Path: "x", Err: inner}, &os.LinkError{Op: "link", Old: "x", New: "y", Err: inner}} {
		require.Equal(t, "a name with ..: "+syscall.EINVAL.Error(), Reason(err))
	}
	require.Equal(t, syscall.EACCES.Error(), Reason(&fs.PathError{Op: "open", Path: "x", Err: os.NewSyscallError("openat", syscall.EACCES)}))
}
