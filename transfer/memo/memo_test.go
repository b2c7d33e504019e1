package memo

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/node"
	"vfsdb/transfer/hostdir"
)

func TestMemo(t *testing.T) {
	name := filepath.Join(t.TempDir(), "memo")
	m, err := Load(name)
	require.NoError(t, err)
	require.Equal(t, &Memo{}, m)

	m = &Memo{Store: "s", Seq: 7, Stamp: 9, Files: []File{
		{Path: "a\xff", Host: hostdir.State{Size: 3, Mode: os.ModeDir | 0o755, Ctime: -5}, Node: node.Node{Ino: 4, Target: "t"}},
	}}
	require.NoError(t, m.Save(name))
	again, err := Load(name)
	require.NoError(t, err)
	require.Equal(t, m, again)

	text, err := os.ReadFile(name)
	require.NoError(t, err)
	for i := range text {
		damaged := append([]byte(nil), text...)
		damaged[i] ^= 1
		require.NoError(t, os.WriteFile(name, damaged, 0o600))
		again, err = Load(name)
		require.NoError(t, err)
		require.Empty(t, again.Files, "byte %d", i)
	}
	require.NoError(t, os.WriteFile(name, text[:10], 0o600))
	again, err = Load(name)
	require.NoError(t, err)
	require.Empty(t, again.Files)
}
