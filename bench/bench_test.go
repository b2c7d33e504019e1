package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be the child process of stream-rss.
func TestMain(m *testing.M) {
	if child() || writerChild() {
		return
	}
	os.Exit(m.Run())
}

// TestShort runs every workload at small sizes. It checks no figure: beside other tests they mean nothing. Two of the
// peers take seconds to start, so they are absent.
func TestShort(t *testing.T) {
	installed(t, "go", "cp", "tar", "git", "sqlite3", "rg")
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-short", "-rounds", "1", "-json", "-dir", t.TempDir()}, &out, io.Discard))
	var r report
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	require.True(t, r.Short)
	seen := make(map[string]bool)
	for _, row := range r.Rows {
		seen[row.Workload] = true
		require.NotEmpty(t, row.What)
		require.GreaterOrEqual(t, row.Ours, 0.0, row.What)
		require.NotEmpty(t, row.Kind, row.What)
		if strings.HasPrefix(row.Peer, "restic") || strings.HasPrefix(row.Peer, "borg") {
			require.True(t, row.Absent, row.Peer)
		}
	}
	for _, name := range names() {
		require.True(t, seen[name], "%s has no row", name)
	}

	for _, l := range highlights {
		require.NotEmpty(t, l.rows(r.Rows), "the README shows %q, which nothing measures", l.what)
	}

	var table bytes.Buffer
	require.NoError(t, r.print(&table))
	for line := range strings.Lines(table.String()) {
		require.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 110, line)
	}
}

// installed hides all programs from the test but some.
func installed(t *testing.T, names ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if file, err := exec.LookPath(name); err == nil {
			require.NoError(t, os.Symlink(file, filepath.Join(dir, name)))
		}
	}
	t.Setenv("PATH", dir)
}

func TestRun(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want string // part of the output
		err  string
	}{
		{"one workload", []string{"-short", "-rounds", "1", "-run", "^hole$"}, "database of a 100 GiB hole", ""},
		{"no workload", []string{"-run", "^$"}, "ratio", ""},
		{"bad regexp", []string{"-run", "("}, "", "missing closing )"},
		{"unknown flag", []string{"-fast"}, "", "not defined"},
		{"no such directory", []string{"-dir", "missing/dir"}, "", "no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			err := run(t.Context(), tt.args, &out, io.Discard)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Contains(t, out.String(), tt.want)
		})
	}
}

func TestCells(t *testing.T) {
	for _, tt := range []struct {
		name string
		row  row
		want string
	}{
		{"race won", versus("w", 1e6, "peer", 3.2e6, 3), "w|1 ms|peer|3.20 ms|3.20x|3x||yes"},
		{"race lost", versus("w", 1e6, "peer", 0.5e6, 1).aim(2), "w|1 ms|peer|500 us|0.50x|1x|2x|NO"},
		{"between", versus("w", 1e6, "peer", 1.5e6, 1).aim(2), "w|1 ms|peer|1.50 ms|1.50x|1x|2x|yes"},
		{"aim reached", versus("w", 1e6, "peer", 2e6, 1).aim(2), "w|1 ms|peer|2 ms|2x|1x|2x|aim"},
		{"no goal", versus("w", 2e9, "peer", 1e9, 0).aim(0), "w|2 s|peer|1 s|0.50x|||"},
		{"aim alone, missed", versus("w", 2e9, "peer", 1e9, 0).aim(2), "w|2 s|peer|1 s|0.50x||2x|"},
		{"aim alone, reached", versus("w", 2e9, "peer", 5e9, 0).aim(2), "w|2 s|peer|5 s|2.50x||2x|aim"},
		{"absent", absent("w", 1e9, "cp -r"), "w|1 s|cp -r|absent||||"},
		{"absent, with a goal", absent("w", 1e9, "cp -r").atLeast(1).aim(2), "w|1 s|cp -r|absent||1x|2x|"},
		{"absent, with a limit", absent("w", 1e9, "cp -r").below(2), "w|1 s|cp -r|absent||< 2 s||yes"},
		{"small enough", under("w", "B", 752<<10, 1<<20).aim(1 << 19), "w|752 KiB||||< 1 MiB|< 512 KiB|yes"},
		{"smaller than that", under("w", "B", 500<<10, 1<<20).aim(1 << 19), "w|500 KiB||||< 1 MiB|< 512 KiB|aim"},
		{"too slow", under("w", "s", 0.0123, 0.010), "w|12.3 ms||||< 10 ms||NO"},
		{"a limit beside a peer", versus("w", 1e6, "peer", 2e6, 0).below(1e-4).aim(1e-5), "w|1 ms|peer|2 ms|2x|< 100 us|< 10 us|NO"},
		{"an aim that is easier", under("w", "s", 1.5e-3, 1e-3).aim(2e-3), "w|1.50 ms||||< 1 ms|< 2 ms|NO"},
		{"plain number", under("w", "B/B", 1.064, 1.1), "w|1.06||||< 1.10||yes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, strings.Join(tt.row.cells(), "|"))
		})
	}
}

// The last lines count the goals, and name those that were missed and those without a peer.
func TestGoals(t *testing.T) {
	r := report{Rows: []row{
		versus("a", 1e6, "peer", 3e6, 2).aim(2),
		versus("b", 1e6, "peer", 1e6, 2).aim(4),
		absent("c", 1e6, "cp -r").atLeast(1).aim(2),
		under("d", "B", 5, 6).aim(4),
		under("e", "s", 5e-3, 1e-3),
		versus("f", 1e6, "peer", 1e6, 0).aim(2),
		under("g", "s", 1, 0),
	}}
	require.Equal(t, `
at least: 2 of 4 met; aim: 1 of 4
not met:
    b, beside peer: 1x of 2x
    e: 5 ms of < 1 ms
not measured, since the peer is absent:
    c, beside cp -r
`, r.goals())
	require.Empty(t, (&report{Rows: []row{under("g", "s", 1, 0)}}).goals())
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 100_000: "100,000", 1_000_000: "1,000,000"} {
		require.Equal(t, want, thousands(n))
	}
}

func TestNoiseRepeatsNothing(t *testing.T) {
	const size = 64<<10 + 100
	a, err := io.ReadAll(bufferedNoise(1, size))
	require.NoError(t, err)
	require.Len(t, a, size)
	blocks := make(map[string]bool)
	for i := 0; i+noiseBlock <= len(a); i += noiseBlock {
		blocks[string(a[i:i+noiseBlock])] = true
	}
	require.Len(t, blocks, size/noiseBlock)
	b, err := io.ReadAll(bufferedNoise(2, size))
	require.NoError(t, err)
	require.NotEqual(t, a, b)
}

// bufferedNoise is noise for readers that ask for a few bytes at a time.
func bufferedNoise(seed uint64, size int64) io.Reader {
	var all bytes.Buffer
	p := make([]byte, piece)
	for r := newNoise(seed, size); ; {
		n, err := r.Read(p)
		all.Write(p[:n])
		if err != nil {
			return &all
		}
	}
}
