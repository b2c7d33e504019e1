package journal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// The growth since an event is known, the transaction at hand included, unless one event stands for many entries.
func TestGrownSince(t *testing.T) {
	fsys := vfstest.New(t, "a", "d/b")
	ctx := t.Context()
	other := vfstest.Branch(t, fsys, "other")
	since, err := fsys.Seq(ctx)
	require.NoError(t, err)
	grown := func(more func(tx *vfs.Tx) error) (g vfs.Growth) {
		require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) (err error) {
			if err := more(tx); err != nil {
				return err
			}
			g, err = tx.GrownSince(since)
			return err
		}))
		return g
	}
	nothing := func(*vfs.Tx) error { return nil }
	require.Equal(t, vfs.Growth{Seq: since}, grown(nothing))
	vfstest.Write(t, other, "elsewhere", "12345")
	g := grown(func(tx *vfs.Tx) error { return tx.WriteFile("x/y", []byte("123"), 0o644, vfs.Parents()) })
	require.Equal(t, []any{int64(3), int64(2), false}, []any{g.Bytes, g.Entries, g.Unknown})
	g = grown(func(tx *vfs.Tx) error { return tx.RemoveAll("x") })
	require.Equal(t, []any{int64(3), int64(2), false}, []any{g.Bytes, g.Entries, g.Unknown}, "what shrank is left out")
	require.True(t, grown(func(tx *vfs.Tx) error { return tx.Copy("d", "e") }).Unknown)
	since = g.Seq + 1000
	require.True(t, grown(nothing).Unknown, "an event that is not there")
	since = 0
	require.True(t, grown(nothing).Unknown)
}
