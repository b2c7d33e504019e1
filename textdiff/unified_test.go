package textdiff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnified(t *testing.T) {
	a, b := Lines([]byte("1\n2\n3\n4\n5\n6")), Lines([]byte("0\n1\n2\n3\n4\n5\nsix\n"))
	for _, tt := range []struct {
		context int
		want    string
	}{
		{0, "@@ -0,0 +1 @@\n+0\n@@ -6 +7 @@\n-6\n\\ No newline at end of file\n+six\n"},
		{2, "@@ -1,2 +1,3 @@\n+0\n 1\n 2\n@@ -4,3 +5,3 @@\n 4\n 5\n-6\n\\ No newline at end of file\n+six\n"},
		{3, "@@ -1,6 +1,7 @@\n+0\n 1\n 2\n 3\n 4\n 5\n-6\n\\ No newline at end of file\n+six\n"},
		{math.MaxInt, "@@ -1,6 +1,7 @@\n+0\n 1\n 2\n 3\n 4\n 5\n-6\n\\ No newline at end of file\n+six\n"},
	} {
		var w strings.Builder
		require.NoError(t, Unified(&w, a, b, Compare(a, b), tt.context))
		require.Equal(t, tt.want, w.String(), "%d lines of context", tt.context)
	}

	var w strings.Builder
	require.NoError(t, Unified(&w, a, a, nil, 3))
	require.Empty(t, w.String())
}

// Hunks of other texts are refused, and nothing is written.
func TestUnifiedRefuses(t *testing.T) {
	a, b := Lines([]byte("1\n2\n")), Lines([]byte("1\nx\n3\n"))
	for name, hunks := range map[string][]Hunk{
		"none":             nil,
		"behind the end":   {{Range{1, 3}, Range{1, 3}}},
		"backwards":        {{Range{2, 1}, Range{1, 1}}},
		"before the start": {{Range{-1, 2}, Range{-1, 2}}},
		"out of order":     {{Range{1, 2}, Range{1, 2}}, {Range{0, 1}, Range{0, 1}}},
		"another gap":      {{Range{1, 2}, Range{0, 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			var w strings.Builder
			err := Unified(&w, a, b, hunks, 3)
			require.ErrorIs(t, err, syscall.EINVAL)
			require.Empty(t, w.String())
		})
	}
	require.ErrorIs(t, Unified(io.Discard, a, b, Compare(a, b), -1), syscall.EINVAL)
	require.ErrorIs(t, Unified(full{}, a, b, Compare(a, b), 3), errFull)
	require.ErrorIs(t, Markers(full{}, Merge(a.Bytes(), b.Bytes(), a.Bytes()), Labels{}, Diff3), errFull)
}

var errFull = errors.New("full")

// full is a writer that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// changedPairs are random pairs that differ, of texts that are not empty: a patch to or from nothing makes or removes a file.
func changedPairs(seed uint64, n int) []gitPair {
	r := seeded(seed)
	var pairs []gitPair
	for len(pairs) < n {
		a, b := pairOfTexts(r, 30)
		if len(a) > 0 && len(b) > 0 && !bytes.Equal(a, b) {
			pairs = append(pairs, gitPair{a, b})
		}
	}
	return pairs
}

// takes checks that a program makes the second text of each pair from the first one, with one patch of ours for all.
func takes(t *testing.T, pairs []gitPair, context int, program ...string) {
	t.Helper()
	need(t, program[0])
	dir := t.TempDir()
	var all bytes.Buffer
	for i, p := range pairs {
		name := fmt.Sprintf("%06d", i)
		write(t, dir, name, p.a)
		fmt.Fprintf(&all, "--- a/%s\n+++ b/%s\n", name, name)
		a, b := Lines(p.a), Lines(p.b)
		require.NoError(t, Unified(&all, a, b, Compare(a, b), context))
	}
	write(t, dir, "all.patch", all.Bytes())

	_, code := host(t, dir, program...)
	require.Zero(t, code)
	for i, p := range pairs {
		got, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%06d", i)))
		require.NoError(t, err)
		require.Equal(t, string(p.b), string(got), "pair %d", i)
	}
}

func TestGitTakesPatches(t *testing.T) {
	takes(t, changedPairs(11, cases(1000, 10_000)), 3, "git", "apply", "all.patch")
	takes(t, changedPairs(12, cases(100, 1000)), 1, "git", "apply", "all.patch")
}

func TestPatchTakesPatches(t *testing.T) {
	takes(t, changedPairs(13, cases(300, 3000)), 3, "patch", "-s", "--binary", "-p1", "-i", "all.patch")
}
