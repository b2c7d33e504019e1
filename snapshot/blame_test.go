package snapshot_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// Lines that are all different come and go at random, one write after the other: each is blamed on the write that
// brought it, also after the file was renamed, and on a branch.
func TestBlame(t *testing.T) {
	fsys := vfstest.New(t)
	r := rand.New(rand.NewPCG(1, 2))
	var lines []string
	wrote := map[string]int64{}
	for n := range 60 {
		for range 1 + r.IntN(3) {
			at := r.IntN(len(lines) + 1)
			if len(lines) > 5 && r.IntN(2) == 0 {
				at = min(at, len(lines)-1)
				lines = slices.Delete(lines, at, at+1)
				continue
			}
			lines = slices.Insert(lines, at, fmt.Sprintf("line %d of write %d", r.IntN(1000000), n))
		}
		text := strings.Join(lines, "\n")
		if n%2 == 0 {
			text += "\n"
		}
		vfstest.Write(t, fsys, "f", text)
		seq, err := fsys.Seq(t.Context())
		require.NoError(t, err)
		for _, l := range lines {
			if wrote[l] == 0 {
				wrote[l] = seq
			}
		}
		if n == 40 {
			require.NoError(t, fsys.Rename(t.Context(), "f", "g"))
			require.NoError(t, fsys.Rename(t.Context(), "g", "f"))
		}
	}
	try, err := snapshot.Branch(t.Context(), fsys, fsys, "try")
	require.NoError(t, err)
	for _, tree := range []*vfs.FS{fsys, try} {
		got, err := snapshot.Blame(t.Context(), tree, "/f")
		require.NoError(t, err)
		require.Len(t, got, len(lines))
		for i, l := range got {
			require.Equal(t, lines[i], l.Text)
			require.NotNil(t, l.Event, l.Text)
			require.Equal(t, wrote[l.Text], l.Event.Seq, l.Text)
		}
	}
}

// Lines that occur many times keep their events between two changes of one write, as in git blame.
func TestBlameOfEqualLines(t *testing.T) {
	fsys := vfstest.New(t)
	text := "first\n" + strings.Repeat("if x {\n}\n\n", 20) + "last\n"
	vfstest.Write(t, fsys, "f", text)
	vfstest.Write(t, fsys, "f", strings.NewReplacer("first", "new", "last", "end").Replace(text))
	newest, err := fsys.Seq(t.Context())
	require.NoError(t, err)
	got, err := snapshot.Blame(t.Context(), fsys, "f")
	require.NoError(t, err)
	var changed []string
	for _, l := range got {
		if l.Event.Seq == newest {
			changed = append(changed, l.Text)
		}
	}
	require.Equal(t, []string{"new", "end"}, changed)
}

func TestBlameRefuses(t *testing.T) {
	fsys := vfstest.New(t, "dir/", "empty")
	vfstest.Write(t, fsys, "binary", "a\x00b")
	vfstest.Write(t, fsys, "empty", "")
	for name, want := range map[string]error{"none": syscall.ENOENT, "dir": syscall.EISDIR, "binary": syscall.EINVAL} {
		_, err := snapshot.Blame(t.Context(), fsys, name)
		require.ErrorIs(t, err, want, name)
	}
	lines, err := snapshot.Blame(t.Context(), fsys, "empty")
	require.NoError(t, err)
	require.Empty(t, lines)
}

// Lines that a blame takes for the same are equal and in order, and no line at the begin or the end of both is missed.
func TestKeptLines(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 6))
	text := func() (list []string) {
		for range random.IntN(12) {
			list = append(list, string(rune('a'+random.IntN(3))))
		}
		return list
	}
	for range 2000 {
		was, is := text(), text()
		head, tail := text(), text()
		was, is = slices.Concat(head, was, tail), slices.Concat(head, is, tail)
		kept := snapshot.KeptLines(was, is)
		require.Len(t, kept, len(is))
		last, n := -1, 0
		for line, old := range kept {
			if old < 0 {
				continue
			}
			require.Greater(t, old, last, "%q %q", was, is)
			require.Equal(t, was[old], is[line], "%q %q", was, is)
			last, n = old, n+1
		}
		require.GreaterOrEqual(t, n, len(head)+len(tail), "%q %q", was, is)
		if slices.Equal(was, is) {
			require.Equal(t, len(is), n)
		}
	}
}
