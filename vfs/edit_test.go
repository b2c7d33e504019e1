package vfs_test

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// The rules of an edit.
func TestEdit(t *testing.T) {
	const text = "one two one two one"
	for _, tt := range []struct {
		name  string
		edits []vfs.Edit
		want  string
		n     int
		err   error
	}{
		{"unique", []vfs.Edit{{Old: "two one two", New: "2"}}, "one 2 one", 1, nil},
		{"not unique", []vfs.Edit{{Old: "two", New: "2"}}, text, 0, syscall.EINVAL},
		{"not there", []vfs.Edit{{Old: "three", New: "3"}}, text, 0, syscall.EINVAL},
		{"empty", []vfs.Edit{{Old: "", New: "3"}}, text, 0, syscall.EINVAL},
		{"count", []vfs.Edit{{Old: "one", New: "1", Count: 2}}, "1 two 1 two one", 2, nil},
		{"count too high", []vfs.Edit{{Old: "one", New: "1", Count: 4}}, text, 0, syscall.EINVAL},
		{"all", []vfs.Edit{{Old: "one", New: "1", All: true}}, "1 two 1 two 1", 3, nil},
		{"all of none", []vfs.Edit{{Old: "x", New: "1", All: true}}, text, 0, syscall.EINVAL},
		{"several", []vfs.Edit{{Old: "one", New: "x", All: true}, {Old: "x two x two x", New: "y"}}, "y", 4, nil},
		{"all or nothing", []vfs.Edit{{Old: "one", New: "x", All: true}, {Old: "zzz", New: "y"}}, text, 0, syscall.EINVAL},
		{"does not overlap", []vfs.Edit{{Old: "o", New: "oo", All: true}}, "oone twoo oone twoo oone", 5, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t)
			vfstest.Write(t, fsys, "f", text)
			n, err := fsys.Edit(t.Context(), "f", tt.edits)
			require.ErrorIs(t, err, tt.err)
			require.Equal(t, tt.n, n)
			require.Equal(t, tt.want, vfstest.Read(t, fsys, "f"))
		})
	}
	fsys := vfstest.New(t, "d/")
	_, err := fsys.Edit(t.Context(), "d", []vfs.Edit{{Old: "a"}})
	require.ErrorIs(t, err, syscall.EISDIR)
}

// An edit whose result would be too large is refused before it is made.
func TestEditBomb(t *testing.T) {
	fsys := vfstest.New(t)
	vfstest.Write(t, fsys, "f", strings.Repeat("a", 1<<20))
	_, err := fsys.Edit(t.Context(), "f", []vfs.Edit{{Old: "a", New: strings.Repeat("b", 1<<20), All: true}})
	require.ErrorIs(t, err, syscall.EFBIG)
}

// An edit is a compare-and-set: of many that start from one sum, one happens.
func TestContractEditIsCompareAndSet(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	vfstest.Write(t, fsys, "f", "value=0")
	sum, err := fsys.Sum(ctx, "f")
	require.NoError(t, err)
	var wg sync.WaitGroup
	results := make([]error, 8)
	for i := range results {
		wg.Go(func() {
			_, results[i] = fsys.Edit(ctx, "f", []vfs.Edit{{Old: "value=", New: fmt.Sprintf("by %d value=", i)}}, vfs.IfSum(sum))
		})
	}
	wg.Wait()
	done := 0
	for _, err := range results {
		if err == nil {
			done++
			continue
		}
		require.ErrorIs(t, err, syscall.ESTALE)
	}
	require.Equal(t, 1, done)
}
