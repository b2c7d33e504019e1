package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// A status reports a writer and open files, while there are any.
func TestStatusOfBusyDatabase(t *testing.T) {
	db := filepath.Join(t.TempDir(), "agent.db")
	fsys, err := vfs.Open(t.Context(), db, nil)
	require.NoError(t, err)
	defer fsys.Close()
	vfstest.Write(t, fsys, "a", "1")
	f, err := fsys.Open(t.Context(), "a")
	require.NoError(t, err)
	defer f.Close()
	type status struct {
		Writer  string `json:"writer"`
		Leases  int    `json:"leases"`
		Stale   int    `json:"stale_leases"`
		WALSize int64  `json:"wal_size"`
	}
	look := func() (s status) {
		var out, errs strings.Builder
		require.Equal(t, cli.ExitOK, run(t.Context(), []string{"--db", db, "status", "--json"}, nil, &out, &errs), errs.String())
		require.NoError(t, json.Unmarshal([]byte(out.String()), &s))
		return s
	}
	require.NoError(t, fsys.Update(t.Context(), func(*vfs.Tx) error {
		s := look()
		require.Equal(t, "busy", s.Writer)
		require.Equal(t, 1, s.Leases)
		require.Positive(t, s.WALSize)
		return nil
	}))
	require.Equal(t, "idle", look().Writer)
}
