package search_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/search"
	"vfsdb/vfs"
)

// A wood is many files in directories, and the result of a naive search in them.
type wood struct {
	names []string // in the order of a walk
	texts map[string]string
}

// grow makes n files of a few random lines, some that look binary, and some of several chunks, in a store.
func grow(t testing.TB, seed uint64, n int) (*vfs.FS, wood) {
	random := rand.New(rand.NewPCG(seed, 9))
	words := []string{"needle", "Needle", "NEEDLE", "kelvin \u212a", "Straße", "ſ", "func  readContext", "2026-11", "hay", "hay stack", "", "\xff", "task", "tas\u212a"}
	fill := func(b *strings.Builder, lines int) {
		for range lines {
			for range random.IntN(3) {
				b.WriteString(words[random.IntN(len(words))])
				b.WriteString(strings.Repeat(" ", random.IntN(3)))
			}
			b.WriteString([]string{"\n", "\r\n", "\n\n"}[random.IntN(3)])
		}
	}
	w := wood{texts: make(map[string]string)}
	for i := range n {
		name := fmt.Sprintf("f%d", i)
		for d := random.IntN(4); d > 0; d-- {
			name = fmt.Sprintf("d%d/%s", random.IntN(4), name)
		}
		var b strings.Builder
		fill(&b, random.IntN(12))
		switch i % 100 {
		case 7: // lines, and a match, lie across the edges of chunks
			for edge := chunk.Size; edge <= 2*chunk.Size; edge += chunk.Size {
				line := strings.Repeat("x", 1+random.IntN(30_000)) + "\n"
				for b.Len() < edge-len(line)-100 {
					b.WriteString(line)
				}
				b.WriteString(strings.Repeat("y", max(0, edge-random.IntN(6)-b.Len())))
				b.WriteString("needle\n")
				fill(&b, 3)
			}
		case 13:
			b.WriteString("needle\x00")
		}
		w.texts[name] = strings.TrimSuffix(b.String(), strings.Repeat("\n", random.IntN(2)))
	}
	fsys := grepStore(t, w.texts)
	require.NoError(t, fsys.View(t.Context(), func(tx *vfs.Tx) error {
		return fs.WalkDir(tx.IOFS(), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				w.names = append(w.names, name)
			}
			return err
		})
	}))
	return fsys, w
}

// naive is a Grep that looks at one line after the other.
func (w wood) naive(match func(string) bool, o search.GrepOptions) *search.GrepResult {
	r := &search.GrepResult{}
	for _, name := range w.names {
		text := w.texts[name]
		if o.Path != "" && !strings.HasPrefix(name, o.Path+"/") {
			continue
		}
		if len(o.Include) > 0 {
			if ok, _ := path.Match(o.Include[0], path.Base(name)); !ok {
				continue
			}
		}
		if o.MaxFileSize > 0 && int64(len(text)) > o.MaxFileSize {
			r.SkippedLarge = append(r.SkippedLarge, name)
			continue
		}
		if vfs.LooksBinary([]byte(text)) {
			r.SkippedBinary = append(r.SkippedBinary, name)
			continue
		}
		r.FilesScanned++
		for _, m := range naiveGrep(text, match, o.Before, o.After) {
			if o.Max > 0 && len(r.Matches) == o.Max {
				r.Truncated = true
				return r
			}
			m.Path = name
			r.Matches = append(r.Matches, m)
		}
	}
	return r
}

// A search in many files, by several goroutines on an FS and by one on a Tx, finds the same as a naive search, in the
// order of a walk, and stops at the same place.
func TestGrepManyFiles(t *testing.T) {
	fsys, w := grow(t, 1, 300)
	random := rand.New(rand.NewPCG(2, 9))
	patterns := []string{
		"needle", "Needle", "k", "\u212a", "straße", "ſ", "-", " ", "hay stack", "task", "absent", "\xff",
		`func\s+\w+Context`, `\d{4}-\d{2}`, `^$`, `^needle`, `needle$`, `needle|stack`, `(?i)needle\s+hay`, `tas[k-l]`, `x{3}y`, `yneedle`, `.`,
	}
	for _, pattern := range patterns {
		for range 3 {
			o := search.GrepOptions{Regex: random.IntN(2) == 0 || strings.ContainsAny(pattern, `\^$|?.{[`), IgnoreCase: random.IntN(2) == 0 && pattern != "\xff"}
			if random.IntN(2) == 0 {
				o.Before, o.After = random.IntN(3), random.IntN(3)
			}
			if random.IntN(2) == 0 {
				o.Max = 1 + random.IntN(1<<random.IntN(11))
			}
			if random.IntN(3) == 0 {
				o.Path = "d1"
			}
			if random.IntN(3) == 0 {
				o.Include = []string{"f*[02468]"}
			}
			if random.IntN(3) == 0 {
				o.MaxFileSize = chunk.Size
			}
			expr := pattern
			if !o.Regex {
				expr = regexp.QuoteMeta(pattern)
			}
			if o.IgnoreCase {
				expr = "(?i)" + expr
			}
			match := func(line string) bool { return strings.Contains(line, pattern) }
			if o.Regex || o.IgnoreCase {
				re, err := regexp.Compile(expr)
				if err != nil {
					continue // bytes that are not UTF-8
				}
				match = re.MatchString
			}
			want := w.naive(match, o)
			got, err := search.Grep(t.Context(), fsys, pattern, &o)
			require.NoError(t, err)
			sameResult(t, want, got, pattern, o)
			require.NoError(t, fsys.View(t.Context(), func(tx *vfs.Tx) (err error) {
				got, err = search.Grep(t.Context(), tx, pattern, &o)
				return err
			}))
			sameResult(t, want, got, pattern, o)
		}
	}
}

func sameResult(t *testing.T, want, got *search.GrepResult, pattern string, o search.GrepOptions) {
	t.Helper()
	require.Equal(t, want.FilesScanned, got.FilesScanned, "%q %+v", pattern, o)
	require.Equal(t, want.Truncated, got.Truncated, "%q %+v", pattern, o)
	require.Equal(t, want.SkippedLarge, got.SkippedLarge, "%q %+v", pattern, o)
	require.Equal(t, want.SkippedBinary, got.SkippedBinary, "%q %+v", pattern, o)
	require.Equal(t, len(want.Matches), len(got.Matches), "%q %+v", pattern, o)
	require.True(t, reflect.DeepEqual(want.Matches, got.Matches), "%q %+v", pattern, o) // without printing megabytes
}

// A search that is cancelled returns the error of the context, or is whole.
func TestGrepCancelled(t *testing.T) {
	fsys, w := grow(t, 3, 300)
	want := w.naive(func(line string) bool { return strings.Contains(line, "needle") }, search.GrepOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := search.Grep(ctx, fsys, "needle", nil)
	require.ErrorIs(t, err, context.Canceled)
	for i := range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for range i * 20 {
				_ = ctx.Err()
			}
			cancel()
		}()
		got, err := search.Grep(ctx, fsys, "needle", nil)
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			require.Nil(t, got)
			continue
		}
		sameResult(t, want, got, "needle", search.GrepOptions{})
	}
}

// Files that others write, move and remove meanwhile do not disturb the search of the rest, and none is seen half.
func TestGrepBesideWriters(t *testing.T) {
	fsys, w := grow(t, 4, 300)
	stop := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			name := fmt.Sprintf("d%d/moving", i%4)
			err := errors.Join(
				fsys.WriteFile(t.Context(), name, bytes.Repeat([]byte("moving one\n"), 1+i%50), 0o644, vfs.Parents()),
				fsys.Rename(t.Context(), name, "d0/moved"),
				fsys.Remove(t.Context(), "d0/moved"),
			)
			if err != nil {
				done <- err
				return
			}
		}
	}()
	want := w.naive(func(line string) bool { return strings.Contains(line, "needle") }, search.GrepOptions{})
	for range 30 {
		got, err := search.Grep(t.Context(), fsys, "needle", nil)
		require.NoError(t, err)
		require.True(t, reflect.DeepEqual(want.Matches, got.Matches))
		got, err = search.Grep(t.Context(), fsys, "moving one", nil)
		require.NoError(t, err)
		require.False(t, slices.ContainsFunc(got.Matches, func(m search.GrepMatch) bool { return m.Text != "moving one" }))
	}
	close(stop)
	require.NoError(t, <-done)
}

// A file that looked binary is searched once it does not, and the other way round, whether or not a change is
// committed.
func TestGrepBinaryChanges(t *testing.T) {
	fsys := grepStore(t, map[string]string{"a": "needle\x00", "b": "needle"})
	check := func(s searcher, binary ...string) {
		t.Helper()
		for range 2 {
			got, err := s.Grep("needle", nil)
			require.NoError(t, err)
			require.Equal(t, binary, got.SkippedBinary)
		}
	}
	all := searcher{t.Context(), fsys}
	check(all, "a")
	require.NoError(t, fsys.WriteFile(t.Context(), "a", []byte("needle"), 0o644))
	check(all)
	require.Error(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		require.NoError(t, tx.WriteFile("b", []byte("binary\x00"), 0o644))
		check(searcher{t.Context(), tx}, "b")
		return errors.New("no")
	}))
	require.NoError(t, fsys.WriteFile(t.Context(), "b", []byte("needle "), 0o644)) // which may take the same id
	check(all)
}
