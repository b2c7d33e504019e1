package vfs_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

func random(n int) []byte {
	p := make([]byte, n)
	r := rand.New(rand.NewPCG(uint64(n), 7))
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

// A verbCase is a verb on the tree of testVerbs, and the error that it must have.
type verbCase struct {
	name string
	do   func(fsys *vfs.FS) error
	want error
}

// testVerbs runs each verb on a tree of its own, and checks that one that is refused changes nothing.
func testVerbs(t *testing.T, cases []verbCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t, "a", "b", "dir/sub/file", "empty/")
			require.NoError(t, fsys.Link(t.Context(), "a", "hard"))
			require.NoError(t, fsys.Symlink(t.Context(), "dir", "todir"))
			require.NoError(t, fsys.Symlink(t.Context(), "nowhere", "dangling"))
			before := vfstest.Dump(t, fsys)
			err := tt.do(fsys)
			require.ErrorIs(t, err, tt.want)
			if tt.want != nil {
				require.Equal(t, before, vfstest.Dump(t, fsys), "a refused verb changes nothing")
				switch err.(type) {
				case *fs.PathError, *os.LinkError:
				default:
					t.Errorf("%T names no path", err)
				}
			}
		})
	}
}
