package mount

import (
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/tree"
)

// Files that cannot be opened, because the store is damaged, make room for others like those that can.
func TestReadersOfDamaged(t *testing.T) {
	fsys := vfstest.New(t, "a")
	held, release, err := (*tree.Tree)(fsys).Hold(t.Context())
	require.NoError(t, err)
	defer release()
	f := newFrozen(t.Context(), held)

	for i := range 3 * maxReaders {
		_, code := f.Read(nil, &fuse.ReadIn{InHeader: fuse.InHeader{NodeId: uint64(1<<40 + i)}}, make([]byte, 10))
		require.Equal(t, fuse.Status(syscall.ESTALE), code)
	}
	require.Len(t, f.readers.byIno, maxReaders)
}
