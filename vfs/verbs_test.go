package vfs_test

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// FS has every verb of os.Root, with a context in front where the verb does something.
func TestVerbsOfRoot(t *testing.T) {
	ours, root := reflect.TypeFor[*vfs.FS](), reflect.TypeFor[*os.Root]()
	names := map[string]string{"FS": "IOFS"} // the one that goes by another name
	plain := map[string]bool{"Name": true, "Close": true}
	require.GreaterOrEqual(t, root.NumMethod(), 23)
	for i := range root.NumMethod() {
		theirs := root.Method(i)
		name := theirs.Name
		if other, ok := names[name]; ok {
			name = other
		}
		m, ok := ours.MethodByName(name)
		require.True(t, ok, "os.Root has %s", theirs.Name)
		skip := 1
		if !plain[name] {
			require.Equal(t, reflect.TypeFor[context.Context](), m.Type.In(1), name)
			skip = 2
		}
		for arg := 1; arg < theirs.Type.NumIn(); arg++ {
			require.Equal(t, theirs.Type.In(arg), m.Type.In(arg+skip-1), "%s, argument %d", name, arg)
		}
	}
}

// The verbs that write work with any bytes, and from any number of goroutines.
func TestContractVerbs(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			name := fmt.Sprint("f", i)
			for _, err := range []error{
				fsys.WriteFile(ctx, name, []byte{0, 0xff, byte(i)}, 0o644),
				fsys.Append(ctx, name, []byte("more"), 0o644),
				fsys.Truncate(ctx, name, 3),
				fsys.Chmod(ctx, name, 0o600),
				fsys.Chown(ctx, name, 7, i),
				fsys.Lchown(ctx, name, -1, 9),
				fsys.Copy(ctx, name, name+".copy"),
				fsys.Rename(ctx, name+".copy", name+".moved"),
			} {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for i := range 8 {
		info, err := fsys.Stat(ctx, fmt.Sprintf("f%d.moved", i))
		require.NoError(t, err)
		uid, gid := info.Owner()
		require.Equal(t, []int{7, 9}, []int{uid, gid})
		require.Equal(t, []byte{0, 0xff, byte(i)}, []byte(vfstest.Read(t, fsys, fmt.Sprintf("f%d.moved", i))))
	}
}
