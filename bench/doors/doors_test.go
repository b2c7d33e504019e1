//go:build linux

package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every row of the table belongs to a work on its door, and no two have one name.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows {
		require.False(t, seen[r.name], r.name)
		seen[r.name] = true
		found := false
		for _, d := range doors {
			found = found || d.work == r.work && d.door == r.door
		}
		require.True(t, found, r.name)
	}
	for _, d := range doors {
		require.True(t, d.work == "start" || works[d.work] != nil, d.work)
	}
}

func TestTable(t *testing.T) {
	text := table(map[string]map[string][]float64{
		"run":   {"run -- true": {0.031, 0.029, 0.028}, "grep -r": {1.3}},
		"mount": {"stat, known": {0.000002}},
		"floor": {"grep -r": {1.1}, "stat, known": {0.0000015}},
		"host":  {"grep -r": {1}, "stat, known": {0.000001}},
	})
	lines := strings.Split(strings.TrimSpace(text), "\n")[2:]
	require.Equal(t, []string{
		"| run | run -- true | 29 ms |  |  |  | 30 ms | 15 ms | yes |",
		"| run | grep -r | 1.30 s | 1 s | 1.30x | 1.10 s | 1.20x | 1x | NO |",
		"| mount | stat, known | 2 us | 1 us | 2x | 1.50 us | 3x | 2x | aim |",
	}, lines)
}

// The floor does what the works ask of it: files in directories that are written in parts, read, listed and removed.
func TestFloor(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root mounts without a helper")
	}
	dir := t.TempDir()
	end, err := serveFloor(dir)
	if err != nil {
		t.Skip(err)
	}
	defer func() { require.NoError(t, end()) }()

	name := filepath.Join(dir, "a", "b", "file")
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	text := bytes.Repeat([]byte("some text. "), blockSize/5)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	require.NoError(t, err)
	for part := range slices.Chunk(text, 70_001) {
		_, err := f.Write(part)
		require.NoError(t, err)
	}
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	require.True(t, bytes.Equal(text, got))

	_, err = os.Stat(filepath.Join(dir, "a", "missing"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, os.Mkdir(filepath.Join(dir, "a"), 0o755), fs.ErrExist)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "a")))
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, list)
}
