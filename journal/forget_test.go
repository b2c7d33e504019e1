package journal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/vfs"
)

// The sums of a file's contents go from all rows that have them, and what a call that wrote it may repeat. Others keep theirs.
func TestForget(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	put := func(name, content string) {
		t.Helper()
		c := &vfs.Call{Tool: "run", Command: []string{"echo", content}, Error: "no " + content, Digest: vfs.SumOf([]byte(content))}
		require.NoError(t, fsys.WriteFile(vfs.WithCall(ctx, c), name, []byte(content), 0o644))
	}
	put("key", "")
	put("empty", "")
	put("key", "on")
	put("key", "one")
	put("other", "three")
	require.NoError(t, fsys.Rename(ctx, "other", "key")) // which displaces it
	require.NoError(t, fsys.Symlink(ctx, "one/and/a/half", "link"))
	put("copy", "one")
	put("kept", "on")

	ino := func(name string) node.Ino {
		return node.Ino(vfstest.Number(t, fsys, `SELECT ino FROM change WHERE path = ? ORDER BY seq LIMIT 1`, name))
	}
	require.NoError(t, vfstest.DB(fsys).Update(ctx, func(tx *schema.Tx) error {
		changes, calls, err := journal.Forget(tx, journal.Forgetting{
			Inos: []node.Ino{ino("key"), ino("link")}, Keep: []chunk.Sum{vfs.SumOf([]byte("on"))},
		})
		require.EqualValues(t, 3, calls)
		require.EqualValues(t, 6, changes)
		return err
	}))

	require.Equal(t, []string{
		"create key ->''",
		"create empty ->''",
		"write key ''->'on' +2",
		"write key 'on'-> +1",
		"create other ->'three' +5",
		"rename key (other) ->'three' -3",
		"symlink link",
		"create copy +3",
		"create kept ->'on' +2",
	}, vfstest.Log(t, fsys, nil))

	list, err := fsys.Store().Calls(ctx, nil)
	require.NoError(t, err)
	for i, c := range list {
		forgotten := i == 0 || i == 2 || i == 3
		require.Equal(t, forgotten, c.Command == "", i)
		require.Equal(t, forgotten, c.Error == "", i)
		require.Equal(t, forgotten, c.Digest == nil, i)
	}
}
