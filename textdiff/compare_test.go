package textdiff

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// cases is a count of random cases: short in the plain test, long where VFS_LONG asks for it.
func cases(short, long int) int {
	if os.Getenv("VFS_LONG") != "" {
		return long
	}
	return short
}

// unified is our patch from a to b.
func unified(t testing.TB, a, b []byte) string {
	t.Helper()
	var w strings.Builder
	require.NoError(t, Unified(&w, Lines(a), Lines(b), Compare(Lines(a), Lines(b)), 3))
	return w.String()
}

// agree compares our patches with those of git, byte for byte.
func agree(t *testing.T, pairs []gitPair) {
	t.Helper()
	for i, want := range bodies(t, pairs) {
		p := pairs[i]
		require.Equal(t, want, unified(t, p.a, p.b), "pair %d", i)
		require.Equal(t, string(p.b), string(applied(p.a, p.b, Compare(Lines(p.a), Lines(p.b)))), "pair %d", i)
	}
}

// applied is a with the hunks' lines of b.
func applied(a, b []byte, hunks []Hunk) []byte {
	text, other := Lines(a), Lines(b)
	result, at := []byte{}, 0
	for _, h := range hunks {
		result = append(result, text.Lines(Range{at, h.A.From})...)
		result = append(result, other.Lines(h.B)...)
		at = h.A.To
	}
	return append(result, text.Lines(Range{at, text.Len()})...)
}

func TestCompareAsGit(t *testing.T) {
	r := seeded(1)
	var pairs []gitPair
	for range cases(800, 30_000) {
		a, b := pairOfTexts(r, 40)
		pairs = append(pairs, gitPair{a, b})
	}
	agree(t, pairs)
}

func TestCompareSourcesAsGit(t *testing.T) {
	r := seeded(2)
	var pairs []gitPair
	for range cases(200, 2000) {
		a := source(t, r)
		b := rewritten(r, a, 1+r.IntN(60))
		if r.IntN(10) == 0 {
			b = source(t, r)
		}
		pairs = append(pairs, gitPair{a, b})
	}
	agree(t, pairs)
}

// Texts that are long and differ everywhere make the search give up, and guess, as git's does.
func TestCompareGuessesAsGit(t *testing.T) {
	r := seeded(3)
	var pairs []gitPair
	step := 1
	if testing.Short() {
		step = 4
	}
	for i := 0; i < cases(12, 120); i += step {
		var alphabet []string
		for n := range 2 + (i%20)*(i%20)*(i%20) {
			alphabet = append(alphabet, strings.Repeat("x", n%50)+string(rune('a'+n%26))+"\n")
		}
		a, b := randomText(r, alphabet, 8000), randomText(r, alphabet, 8000)
		c := bytes.Join([][]byte{a, randomText(r, alphabet, 4000), b}, nil)
		pairs = append(pairs, gitPair{a, b}, gitPair{c, edited(r, c, alphabet, 600)}, gitPair{c, append(b, a...)})
	}
	agree(t, pairs)
}

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		name, a, b string
		want       []Hunk
	}{
		{"nothing", "", "", nil},
		{"equal", "a\nb\n", "a\nb\n", nil},
		{"all new", "", "a\nb", []Hunk{{Range{0, 0}, Range{0, 2}}}},
		{"all gone", "a\n\n", "", []Hunk{{Range{0, 2}, Range{0, 0}}}},
		{"replaced", "a\nb\nc\n", "a\nx\ny\nc\n", []Hunk{{Range{1, 2}, Range{1, 3}}}},
		{"two", "a\nb\nc\nd\n", "b\nc\nd\ne\n", []Hunk{{Range{0, 1}, Range{0, 0}}, {Range{4, 4}, Range{3, 4}}}},
		{"a lost line feed", "a\nb\n", "a\nb", []Hunk{{Range{1, 2}, Range{1, 2}}}},
		{"a carriage return", "a\r\nb\n", "a\nb\n", []Hunk{{Range{0, 1}, Range{0, 1}}}},
		{"a NUL", "a\x00\nb\n", "a\n\x00b\n", []Hunk{{Range{0, 2}, Range{0, 2}}}},
		{"the lower one of equal lines", "a\na\n", "a\na\na\n", []Hunk{{Range{2, 2}, Range{2, 3}}}},
		{"a whole block", "f {\n\tx\n}\n", "f {\n\tx\n}\n\ng {\n\tx\n}\n", []Hunk{{Range{3, 3}, Range{3, 7}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, Compare(Lines([]byte(tt.a)), Lines([]byte(tt.b))))
		})
	}
}

func TestLines(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, "a": {"a"}, "a\n": {"a\n"}, "\n\n": {"\n", "\n"}, "a\r\nb": {"a\r\n", "b"},
	} {
		lines := Lines([]byte(text))
		var got []string
		for i := range lines.Len() {
			got = append(got, string(lines.Line(i)))
		}
		require.Equal(t, want, got, "%q", text)
		require.Equal(t, text, string(lines.Lines(Range{0, lines.Len()})))
	}
	require.Zero(t, Text{}.Len())
	require.Empty(t, Text{}.Lines(Range{}))
}

func TestBinary(t *testing.T) {
	require.False(t, Binary(nil))
	require.False(t, Binary([]byte("text\xff\n")))
	require.True(t, Binary([]byte("a\x00")))
	require.True(t, Binary(append(bytes.Repeat([]byte("a"), 7999), 0)))
	require.False(t, Binary(append(bytes.Repeat([]byte("a"), 8000), 0)))
}

// proper checks what every list of hunks promises: order, a common line between two, equal lines outside of them.
func proper(t require.TestingT, a, b []byte, hunks []Hunk) {
	textA, textB := Lines(a), Lines(b)
	require.True(t, (&patch{a: textA, b: textB}).fits(hunks))
	at := Hunk{Range{-1, -1}, Range{-1, -1}}
	for _, h := range hunks {
		require.Greater(t, h.A.From, at.A.To)
		require.Positive(t, h.A.Len()+h.B.Len())
		at = h
	}
	require.Equal(t, string(b), string(applied(a, b, hunks)))
}

// FuzzCompare compares any two texts both ways.
func FuzzCompare(f *testing.F) {
	f.Add([]byte("a\nb\n\nc"), []byte("b\n\n\nc\n"))
	f.Add([]byte("x\nx\nx\ny\n"), []byte("x\ny\nx\nx\nx\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		proper(t, a, b, Compare(Lines(a), Lines(b)))
		proper(t, b, a, Compare(Lines(b), Lines(a)))
	})
}

// A line that stands three times at most is never pruned for its matches, and a short search never guesses: then no list of
// hunks is shorter.
func TestCompareIsMinimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 14)
		a, b := spelled(lines.Draw(t, "a")), spelled(lines.Draw(t, "b"))
		hunks := Compare(Lines(a), Lines(b))
		proper(t, a, b, hunks)
		if crowded(a) || crowded(b) {
			return
		}

		changed := 0
		for _, h := range hunks {
			changed += h.A.Len() + h.B.Len()
		}
		require.Equal(t, Lines(a).Len()+Lines(b).Len()-2*longest(Lines(a), Lines(b)), changed)
	})
}

// spelled is a text with a line for each number.
func spelled(numbers []int) []byte {
	var text []byte
	for _, n := range numbers {
		text = append(text, byte('a'+n), '\n')
	}
	return text
}

// crowded reports whether a line stands more than once in a text of three lines or fewer, or four times in any.
func crowded(text []byte) bool {
	for c := byte('a'); c < 'z'; c++ {
		if n := bytes.Count(text, []byte{c}); n > 3 || n > 1 && len(text) <= 6 {
			return true
		}
	}
	return false
}

// longest is the length of the longest common subsequence, the slow way.
func longest(a, b Text) int {
	row := make([]int, b.Len()+1)
	for i := range a.Len() {
		diagonal := 0
		for j := range b.Len() {
			above := row[j+1]
			if bytes.Equal(a.Line(i), b.Line(j)) {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[b.Len()]
}

// The worst texts end: every line common to both in many ways, in an order that shares little.
func TestCompareEnds(t *testing.T) {
	n := 30_000
	if testing.Short() {
		n = 6000
	}
	texts := map[string]func(i int) int{
		"two lines at random": func(i int) int { return (i * i >> 3) % 2 },
		"shuffled":            func(i int) int { return i * 7919 % n },
		"reversed":            func(i int) int { return n - i },
		"in order":            func(i int) int { return i },
		"one line":            func(int) int { return 0 },
		"with a period":       func(i int) int { return i % 7 },
	}
	for name, line := range texts {
		for other, second := range texts {
			t.Run(name+" and "+other, func(t *testing.T) {
				var a, b []byte
				for i := range n {
					a = fmt.Appendln(a, line(i))
					b = fmt.Appendln(b, second(i))
				}
				proper(t, a, b, Compare(Lines(a), Lines(b)))
			})
		}
	}
}
