package branches

import (
	"context"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/vfs"
)

// Only what is wrong with a label lets tools look for the maker of a side elsewhere. Faults of the store are reported.
func TestNoMoment(t *testing.T) {
	for _, err := range []error{
		&fs.PathError{Op: "find", Path: "gone", Err: fs.ErrNotExist}, &fs.PathError{Err: syscall.ENOENT}, &tool.GoneError{Branch: "gone", Err: syscall.ESTALE},
		&policy.Error{Permission: policy.Snapshot}, &tool.ForeignRefError{}, &fs.PathError{Err: syscall.EINVAL},
	} {
		require.True(t, noMoment(err), "%v", err)
	}
	for _, err := range []error{nil, context.Canceled, vfs.ErrCorrupt, syscall.EIO, syscall.EBUSY} {
		require.False(t, noMoment(err), "%v", err)
	}
}
