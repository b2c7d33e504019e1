package search

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
)

func sketchOf(text []byte) *sketch {
	s := newSketch(int64(len(text)))
	s.add(text)
	return s
}

// Sketches rule contents out, for all kinds of patterns.
func TestProbe(t *testing.T) {
	text := "The quick brown Fox jumps over the lazy dog, 2026-11\n"
	for _, tt := range []struct {
		pattern               string
		regex, fold, excluded bool
	}{
		{"quick", false, false, false},
		{"QUICK", false, false, false}, // a sketch ignores case
		{"quickest", false, false, true},
		{"QUICKEST", false, true, true},
		{"brown fox", false, true, false},
		{"brown Fax", false, false, true},
		{"fax", false, false, false}, // shorter than a gram
		{"quak", false, false, true},
		{"kaskadess", false, true, true}, // there is no Kelvin sign
		{`lazy\s+cat`, true, false, false},
		{`laziest\s+dog`, true, false, true},
		{`quick|crazy`, true, false, false},
		{`quickest|laziest`, true, false, true},
		{`quickest|x?`, true, false, false},
		{`\d{4}-\d{2}`, true, false, false},
	} {
		m, err := newLineMatcher(tt.pattern, tt.regex, tt.fold)
		require.NoError(t, err)
		s := newSketch(1 << 16)
		s.add([]byte(text))
		require.Equal(t, tt.excluded, s.rulesOut(m.probes), tt.pattern)
	}
}

// No text that matches is excluded, wherever the match is. Most that do not match are.
func TestSketchExcludesNoMatch(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	excluded, absent := 0, 0
	for range 3000 {
		letters := []byte("abcdefghijklmnopqrstuvwxyzABCKS \xe9\xff")
		text := make([]byte, 200+random.IntN(2000))
		for i := range text {
			text[i] = letters[random.IntN(len(letters))]
		}
		from := random.IntN(len(text) - 20)
		present := string(text[from:][:1+random.IntN(20)])
		fold := random.IntN(2) == 0
		if fold {
			present = strings.ToUpper(strings.ToValidUTF8(present, "")) + "x"
			copy(text[from:], present)
		}
		m, err := newLineMatcher(present, false, fold)
		require.NoError(t, err)
		require.True(t, m.match(text))
		require.False(t, sketchOf(text).rulesOut(m.probes), "%q in %q", present, text)

		if m, err = newLineMatcher("never was seen", false, fold); !m.match(text) {
			require.NoError(t, err)
			absent++
			if sketchOf(text).rulesOut(m.probes) {
				excluded++
			}
		}
	}
	require.Greater(t, excluded, absent*2/3, "even of what is as random as this")
}

// Memory is bounded. Where there is no room, sketches stay until no search has asked for them for a while.
func TestSketchesAreBounded(t *testing.T) {
	var s sketches
	content := func(n int) chunk.Content { return chunk.Content{Size: 1 << 20, Blob: int64(n)} }
	search, learn := s.begin()
	require.False(t, learn, "the first search may be the only one")
	const all = 300
	put := func() (n int) {
		for i := range all {
			s.put(content(i), newSketch(1<<20), search)
			require.LessOrEqual(t, s.bytes, sketchBytes)
			if s.of(content(i), search) != nil {
				n++
			}
		}
		return n
	}
	search, learn = s.begin()
	require.True(t, learn)
	require.Equal(t, sketchBytes/newSketch(1<<20).cost(), put())
	for i := range 2*sketchSearches + 1 {
		search, learn = s.begin()
		if i < sketchSearches {
			require.False(t, learn, "there is no room")
			require.Greater(t, len(s.all), 100)
		}
		require.NotNil(t, s.of(content(1), search))
		require.Nil(t, s.of(content(all-1), search))
	}
	search, learn = s.begin()
	require.True(t, learn, "there is room again")
	require.Len(t, s.all, 1)
	require.Equal(t, s.all[content(1)].cost(), s.bytes)
	require.Greater(t, put(), 100)
}

// FuzzSketch compares with the search that a sketch saves.
func FuzzSketch(f *testing.F) {
	f.Add("The quick brown fox\n\njumps\r\n", "Brown", false, true)
	f.Add("aaa*b*cd\n", `a[\n*]b[*]c`, true, false)
	f.Add("tas\u212a force ſ\n", "task force s", false, true)
	f.Fuzz(func(t *testing.T, text, pattern string, regex, fold bool) {
		m, err := newLineMatcher(pattern, regex, fold)
		if err != nil {
			return
		}
		if !regex && fold {
			m.match = regexp.MustCompile("(?i)" + regexp.QuoteMeta(pattern)).Match
		}
		if sketchOf([]byte(text)).rulesOut(m.probes) {
			require.Empty(t, matching(m, []byte(text), false), "%q in %q", pattern, text)
		}
	})
}
