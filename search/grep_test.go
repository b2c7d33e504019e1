package search_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/search"
	"vfsdb/vfs"
)

// grepStore opens a store with files of these contents.
func grepStore(t testing.TB, files map[string]string) *vfs.FS {
	t.Helper()
	fsys := searchStore(t)
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for name, text := range files {
			if err := tx.WriteFile(name, []byte(text), 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return nil
	}))
	return fsys
}

// Literal unless Regex. Case. Whole lines, numbered from 1, in the order of a walk.
func TestGrep(t *testing.T) {
	fsys := grepStore(t, map[string]string{
		"a.ts":       "import x from 'a.ts'\nimport y from 'a-ts'\n",
		"case":       "Straße\nSTRASSE\nKelvin \u212a\nkelvin k\nLONG ſ\nlong S\nΣΑΣ\nσας",
		"crlf":       "one\r\ntwo\r\n\r\nthree\r",
		"dir/sub/in": "deep\n",
		"dir.txt":    "deep\n",
		"empty":      "",
		"lf":         "\n\n",
		"latin":      "caf\xe9\n",
	})
	require.NoError(t, fsys.Symlink(t.Context(), "a.ts", "link"))
	everywhere(t, fsys, func(t *testing.T, s searcher) {
		for _, tt := range []struct {
			name, pattern string
			o             search.GrepOptions
			want          []string
		}{
			{"a literal dot", "a.ts", search.GrepOptions{}, []string{"a.ts:1:import x from 'a.ts'"}},
			{"a regex dot", "a.ts", search.GrepOptions{Regex: true}, []string{"a.ts:1:import x from 'a.ts'", "a.ts:2:import y from 'a-ts'"}},
			{"an escaped dot", `a\.ts`, search.GrepOptions{Regex: true}, []string{"a.ts:1:import x from 'a.ts'"}},
			{"an escape is literal", `a\.ts`, search.GrepOptions{}, nil},
			{"case matters", "straße", search.GrepOptions{}, nil},
			{"case is ignored", "straße", search.GrepOptions{IgnoreCase: true}, []string{"case:1:Straße"}},
			{"simple folding only", "STRASSE", search.GrepOptions{IgnoreCase: true}, []string{"case:2:STRASSE"}},
			{"the Kelvin sign", "K", search.GrepOptions{IgnoreCase: true, Path: "case"}, []string{"case:3:Kelvin \u212a", "case:4:kelvin k"}},
			{"in a word", "kELVIN k", search.GrepOptions{IgnoreCase: true}, []string{"case:3:Kelvin \u212a", "case:4:kelvin k"}},
			{"the long s", "g s", search.GrepOptions{IgnoreCase: true}, []string{"case:5:LONG ſ", "case:6:long S"}},
			{"three sigmas", "σας", search.GrepOptions{IgnoreCase: true}, []string{"case:7:ΣΑΣ", "case:8:σας"}},
			{"a regex, case ignored", "^l[a-o]+g", search.GrepOptions{Regex: true, IgnoreCase: true}, []string{"case:5:LONG ſ", "case:6:long S"}},
			{"a flag in a regex", "(?i)STRAß", search.GrepOptions{Regex: true}, []string{"case:1:Straße"}},
			{"the end of a line", "o$", search.GrepOptions{Regex: true}, []string{"crlf:2:two"}},
			{"the start of a line", "^t", search.GrepOptions{Regex: true}, []string{"crlf:2:two", "crlf:4:three"}},
			{"start and end of text", `\Atwo\z`, search.GrepOptions{Regex: true}, []string{"crlf:2:two"}},
			{"empty lines", "^$", search.GrepOptions{Regex: true}, []string{"crlf:3:", "lf:1:", "lf:2:"}},
			{"no line break in a line", `(?s)e.t`, search.GrepOptions{Regex: true, Path: "crlf"}, nil},
			{"nor a carriage return", "\r", search.GrepOptions{}, nil},
			{"not a word boundary", `\B`, search.GrepOptions{Regex: true, Path: "lf"}, []string{"lf:1:", "lf:2:"}},
			{"what matches nothing", "x*", search.GrepOptions{Regex: true, Path: "dir.txt"}, []string{"dir.txt:1:deep"}},
			{"what stands for what is not UTF-8", "caf\ufffd", search.GrepOptions{Regex: true}, []string{"latin:1:caf\xe9"}},
			{"bytes that are not UTF-8", "f\xe9", search.GrepOptions{}, []string{"latin:1:caf\xe9"}},
			{"by name, not by path", "deep", search.GrepOptions{}, []string{"dir/sub/in:1:deep", "dir.txt:1:deep"}},
			{"below a directory", "deep", search.GrepOptions{Path: "dir"}, []string{"dir/sub/in:1:deep"}},
			{"in a file", "deep", search.GrepOptions{Path: "/dir/./sub/in"}, []string{"dir/sub/in:1:deep"}},
		} {
			t.Run(tt.name, func(t *testing.T) {
				got, err := s.Grep(tt.pattern, &tt.o)
				require.NoError(t, err)
				require.Equal(t, tt.want, rows(got))
				require.False(t, got.Truncated)
			})
		}
	})
}

func TestGrepRefuses(t *testing.T) {
	fsys := searchStore(t, "a/b")
	for _, tt := range []struct {
		name, pattern string
		o             search.GrepOptions
		says          string
	}{
		{"empty", "", search.GrepOptions{}, "empty"},
		{"empty regex", "", search.GrepOptions{Regex: true}, "empty"},
		{"not UTF-8", "a\xff", search.GrepOptions{IgnoreCase: true}, "not UTF-8"},
		{"two lines", "a\nb", search.GrepOptions{}, "line break"},
		{"regex", "a(", search.GrepOptions{Regex: true}, "missing closing )"},
		{"look-ahead", "(?=a)", search.GrepOptions{Regex: true}, "invalid or unsupported Perl syntax"},
		{"back reference", `(a)\1`, search.GrepOptions{Regex: true}, "invalid escape sequence"},
		{"include", "a", search.GrepOptions{Include: []string{"ok", "["}}, "bad pattern"},
		{"exclude", "a", search.GrepOptions{Exclude: []string{"{"}}, "bad pattern"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := search.Grep(t.Context(), fsys, tt.pattern, &tt.o)
			require.ErrorIs(t, err, syscall.EINVAL)
			require.ErrorContains(t, err, tt.says)
		})
	}
}

// Where Grep looks.
func TestGrepScope(t *testing.T) {
	fsys := searchStore(t, "a.go", "b.py", "src/a.go", "src/a_test.go", "src/.x.go", "src/sub/c.go", "src/sub/vendor/d.go", "vendor/e.go", "docs/f.md")
	for _, tt := range []struct {
		name string
		o    search.GrepOptions
		want []string
	}{
		{"all", search.GrepOptions{}, []string{"a.go", "b.py", "docs/f.md", "src/.x.go", "src/a.go", "src/a_test.go", "src/sub/c.go", "src/sub/vendor/d.go", "vendor/e.go"}},
		{"base names", search.GrepOptions{Include: []string{"*.py", "*.md"}}, []string{"b.py", "docs/f.md"}},
		{"braces", search.GrepOptions{Include: []string{"*.{py,md}"}}, []string{"b.py", "docs/f.md"}},
		{"a path", search.GrepOptions{Include: []string{"src/*.go"}}, []string{"src/.x.go", "src/a.go", "src/a_test.go"}},
		{"a path in front", search.GrepOptions{Include: []string{"/*.go"}}, []string{"a.go"}},
		{"relative to Path", search.GrepOptions{Path: "src", Include: []string{"sub/*.go"}}, []string{"src/sub/c.go"}},
		{"not the base of a directory", search.GrepOptions{Include: []string{"src"}}, nil},
		{"without", search.GrepOptions{Path: "src", Exclude: []string{"*_test.go", ".*"}}, []string{"src/a.go", "src/sub/c.go", "src/sub/vendor/d.go"}},
		{"without a directory", search.GrepOptions{Exclude: []string{"vendor", "docs/**", "*.py"}}, []string{"a.go", "src/.x.go", "src/a.go", "src/a_test.go", "src/sub/c.go"}},
		{"without directories", search.GrepOptions{Exclude: []string{"s*/", "*/"}}, []string{"a.go", "b.py"}},
		{"with and without", search.GrepOptions{Include: []string{"*.go"}, Exclude: []string{"src/**"}}, []string{"a.go", "vendor/e.go"}},
		{"a named file", search.GrepOptions{Path: "b.py", Include: []string{"*.go"}, Exclude: []string{"*.py"}}, []string{"b.py"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := search.Grep(t.Context(), fsys, ".", &tt.o)
			require.NoError(t, err)
			var files []string
			for _, m := range got.Matches {
				files = append(files, m.Path)
			}
			require.Equal(t, tt.want, files)
			require.Equal(t, len(tt.want), got.FilesScanned)
		})
	}
}

// Files that are too large, and files that look binary, are named instead of searched. Searched
// files are counted.
func TestGrepSkips(t *testing.T) {
	at := strings.Repeat("x", 8191)
	fsys := grepStore(t, map[string]string{
		"binary":      at + "\x00 needle",
		"sub/nul":     "\x00",
		"text":        at + "x\x00\nneedle",
		"limit":       "needle" + strings.Repeat("\n", 10<<20-6),
		"over":        "needle" + strings.Repeat("\n", 10<<20-5),
		"zz/sentinel": "needle",
	})
	everywhere(t, fsys, func(t *testing.T, s searcher) {
		for _, tt := range []struct {
			name          string
			o             search.GrepOptions
			found         []string
			large, binary []string
			scanned       int
		}{
			{"by default", search.GrepOptions{}, []string{"limit:1:needle", "text:2:needle", "zz/sentinel:1:needle"}, []string{"over"}, []string{"binary", "sub/nul"}, 3},
			{"no limit", search.GrepOptions{MaxFileSize: -1}, []string{"limit:1:needle", "over:1:needle", "text:2:needle", "zz/sentinel:1:needle"}, nil, []string{"binary", "sub/nul"}, 4},
			{"small ones", search.GrepOptions{MaxFileSize: 6}, []string{"zz/sentinel:1:needle"}, []string{"binary", "limit", "over", "text"}, []string{"sub/nul"}, 1},
			{"a named one", search.GrepOptions{Path: "binary"}, nil, nil, []string{"binary"}, 0},
			{"a named large one", search.GrepOptions{Path: "over"}, nil, []string{"over"}, nil, 0},
		} {
			t.Run(tt.name, func(t *testing.T) {
				got, err := s.Grep("needle", &tt.o)
				require.NoError(t, err)
				require.Equal(t, tt.found, rows(got))
				require.Equal(t, tt.large, got.SkippedLarge)
				require.Equal(t, tt.binary, got.SkippedBinary)
				require.Equal(t, tt.scanned, got.FilesScanned)
			})
		}
	})
}

// Max stops the search. The result is truncated only if a match was left out.
func TestGrepMax(t *testing.T) {
	fsys := grepStore(t, map[string]string{"a": "x\nx\n", "b": "y\n", "c": "x\n", "d": "y\n"})
	everywhere(t, fsys, func(t *testing.T, s searcher) {
		for _, tt := range []struct {
			max, want, scanned int
			more               bool
		}{
			{1, 1, 1, true},
			{2, 2, 3, true},
			{3, 3, 4, false},
			{4, 3, 4, false},
			{0, 3, 4, false},
		} {
			got, err := s.Grep("x", &search.GrepOptions{Max: tt.max})
			require.NoError(t, err)
			require.Len(t, got.Matches, tt.want)
			require.Equal(t, tt.more, got.Truncated, "max %d", tt.max)
			require.Equal(t, tt.scanned, got.FilesScanned, "max %d", tt.max)
		}
	})
}

func TestGrepContext(t *testing.T) {
	fsys := grepStore(t, map[string]string{"f": "1\r\n2\nhit a\nhit b\n5\n\nlast hit"})
	got, err := search.Grep(t.Context(), fsys, "hit", &search.GrepOptions{Before: 3, After: 2})
	require.NoError(t, err)
	require.Equal(t, []search.GrepMatch{
		{Path: "f", Line: 3, Text: "hit a", Before: []string{"1", "2"}, After: []string{"hit b", "5"}},
		{Path: "f", Line: 4, Text: "hit b", Before: []string{"1", "2", "hit a"}, After: []string{"5", ""}},
		{Path: "f", Line: 7, Text: "last hit", Before: []string{"hit b", "5", ""}},
	}, got.Matches)
	got, err = search.Grep(t.Context(), fsys, "hit", &search.GrepOptions{Before: -1, After: -1, Max: 1})
	require.NoError(t, err)
	require.Equal(t, []search.GrepMatch{{Path: "f", Line: 3, Text: "hit a"}}, got.Matches)
}

// naiveGrep looks at one line after the other.
func naiveGrep(text string, match func(string) bool, before, after int) []search.GrepMatch {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	if text == "" {
		return nil
	}
	var list []search.GrepMatch
	for i, line := range lines {
		if match(line) {
			m := search.GrepMatch{Path: "f", Line: i + 1, Text: line}
			m.Before = append(m.Before, lines[max(0, i-before):i]...)
			m.After = append(m.After, lines[i+1:min(len(lines), i+1+after)]...)
			list = append(list, m)
		}
	}
	return list
}

// Random texts of a few letters, searched for random patterns, give what a naive search gives.
func TestGrepLikeNaive(t *testing.T) {
	fsys := searchStore(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func(alphabet []string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(alphabet[rnd.IntN(len(alphabet))])
		}
		return b.String()
	}
	letters := []string{"a", "b", "A", "B", "k", "\u212a", "s", "ſ", "\n", "\n", "\r", "\r\n", "-", "é", "É", "\xff"}
	literals := []string{"a", "b", "A", "k", "K", "s", "é", "-", "ab", "ba", "\xff"}
	atoms := []string{"a", "b", "k", "s", "ab", "ba", "é", "-", ".", `\b`, `\B`, "^", "$", "[^a]", "(a|b)", "(ab)+", "b*", "a?", "(ba){2}", "(?i:ab)", `\s`, "(?s:.)", `\A`, `\z`, "-{0,1}"}
	for range 150 {
		text := pick(letters, rnd.IntN(400))
		require.NoError(t, fsys.WriteFile(t.Context(), "f", []byte(text), 0o644))
		for range 10 {
			o := search.GrepOptions{Regex: rnd.IntN(2) == 0, IgnoreCase: rnd.IntN(2) == 0, Before: rnd.IntN(3), After: rnd.IntN(3)}
			pattern := pick(literals, 1+rnd.IntN(3))
			expr := regexp.QuoteMeta(pattern)
			if o.Regex {
				pattern = pick(atoms, 1+rnd.IntN(4))
				expr = pattern
			}
			if o.IgnoreCase {
				expr = "(?i)" + expr
			}
			match := func(line string) bool { return strings.Contains(line, pattern) }
			if o.Regex || o.IgnoreCase {
				re, err := regexp.Compile(expr)
				if err != nil {
					_, err := search.Grep(t.Context(), fsys, pattern, &o)
					require.ErrorIs(t, err, syscall.EINVAL)
					continue
				}
				match = re.MatchString
			}
			got, err := search.Grep(t.Context(), fsys, pattern, &o)
			require.NoError(t, err)
			require.Equal(t, naiveGrep(text, match, o.Before, o.After), got.Matches, "%q in %q, %+v", pattern, text, o)
		}
	}
}

// A file of many chunks is held in parts; lines, matches and contexts that lie across their edges are found all the
// same.
func TestGrepAcrossChunks(t *testing.T) {
	const size = 512 << 10
	var b strings.Builder
	edges := []int{size, 2 * size, 9 * size, 9*size + 1, 10 * size, 17 * size, 18 * size}
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, edge := range edges {
		for b.Len() < edge-200 {
			b.WriteString(strings.Repeat("x", rnd.IntN(min(1+edge-200-b.Len(), 5000))) + "\n")
		}
		fmt.Fprintf(&b, "%d one\n%d two\n", edge, edge)
		if n := edge - 3 - b.Len(); n > 0 {
			b.WriteString(strings.Repeat("y", n))
		}
		b.WriteString("Needle three\n four\r\n five\n")
	}
	b.WriteString("the last Needle")
	text := b.String()
	fsys := grepStore(t, map[string]string{"f": text})
	for _, o := range []search.GrepOptions{
		{}, {Before: 2, After: 2}, {Before: 3000, After: 1}, {After: 3000}, {Regex: true}, {IgnoreCase: true, Before: 1, After: 5},
	} {
		t.Run(fmt.Sprintf("%+v", o), func(t *testing.T) {
			o.MaxFileSize = -1
			got, err := search.Grep(t.Context(), fsys, "Needle", &o)
			require.NoError(t, err)
			want := naiveGrep(text, func(line string) bool { return strings.Contains(line, "Needle") }, o.Before, o.After)
			require.Len(t, got.Matches, len(edges)+1)
			require.True(t, reflect.DeepEqual(want, got.Matches)) // without printing megabytes
		})
	}
}

// A line of many megabytes is a line; one that does not fit into memory ends the search of its file, which is reported.
func TestGrepLongLine(t *testing.T) {
	long := strings.Repeat("ab", 3<<20) + "needle" + strings.Repeat("cd", 1<<20)
	fsys := grepStore(t, map[string]string{"long": "first\n" + long + "\nneedle\n", "zz": "needle\n"})
	got, err := search.Grep(t.Context(), fsys, "needle", nil)
	require.NoError(t, err)
	require.Len(t, got.Matches, 3)
	require.Equal(t, 2, got.Matches[0].Line)
	require.True(t, got.Matches[0].Text == long)
	require.Equal(t, 3, got.Matches[1].Line)

	head := strings.Repeat("needle\n", 2000)
	require.NoError(t, fsys.WriteFile(t.Context(), "long", []byte(head), 0o644))
	require.NoError(t, fsys.Truncate(t.Context(), "long", 1<<40))
	got, err = search.Grep(t.Context(), fsys, "needle", &search.GrepOptions{MaxFileSize: -1})
	require.NoError(t, err)
	require.Len(t, got.Matches, 2001)
	require.Equal(t, []string{"long"}, got.SkippedLarge)
}

// FuzzGrep compares with a naive search, the first time and again.
func FuzzGrep(f *testing.F) {
	fsys := searchStore(f)
	f.Add("one\ntwo\r\n\nthree", "o", false, false, uint8(1))
	f.Add("Kelvin \u212a\n", "k", false, true, uint8(0))
	f.Add("a\nb\n", `(?s)a.b|^$`, true, true, uint8(2))
	f.Fuzz(func(t *testing.T, text, pattern string, regex, fold bool, around uint8) {
		o := search.GrepOptions{Regex: regex, IgnoreCase: fold, Before: int(around % 4), After: int(around / 4 % 4)}
		require.NoError(t, fsys.WriteFile(t.Context(), "f", []byte(text), 0o644))
		got, err := search.Grep(t.Context(), fsys, pattern, &o)
		match := func(line string) bool { return strings.Contains(line, pattern) }
		bad := pattern == "" || !regex && strings.Contains(pattern, "\n")
		if regex || fold {
			expr := pattern
			if !regex {
				expr = regexp.QuoteMeta(pattern)
			}
			if fold {
				expr = "(?i)" + expr
			}
			re, err := regexp.Compile(expr)
			if err != nil {
				bad = true
			} else {
				match = re.MatchString
			}
		}
		if bad {
			require.ErrorIs(t, err, syscall.EINVAL)
			return
		}
		require.NoError(t, err)
		if vfs.LooksBinary([]byte(text)) {
			require.Equal(t, []string{"f"}, got.SkippedBinary)
			return
		}
		require.Equal(t, naiveGrep(text, match, o.Before, o.After), got.Matches)
		again, err := search.Grep(t.Context(), fsys, pattern, &o) // which knows the content
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}
