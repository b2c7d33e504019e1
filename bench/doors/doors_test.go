//go:build linux

package main

import (
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
		"host":  {"grep -r": {1}, "stat, known": {0.000001}},
	})
	lines := strings.Split(strings.TrimSpace(text), "\n")[2:]
	require.Equal(t, []string{
		"| run | run -- true | 29 ms |  |  | 30 ms | 15 ms | yes |",
		"| run | grep -r | 1.30 s | 1 s | 1.30x | 1.20x | 1x | NO |",
		"| mount | stat, known | 2 us | 1 us | 2x | 3x | 2x | aim |",
	}, lines)
}
