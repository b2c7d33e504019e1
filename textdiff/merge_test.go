package textdiff

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A triple is a base and two sides.
type triple struct{ base, ours, theirs []byte }

// shown is our merge with its conflicts between marks.
func (x triple) shown(t testing.TB, style Style) (text string, conflicts int) {
	t.Helper()
	m := Merge(x.base, x.ours, x.theirs)
	covers(t, m)
	var w strings.Builder
	require.NoError(t, Markers(&w, m, Labels{"ours", "the base", "theirs"}, style))
	return w.String(), m.Conflicts()
}

// covers checks that the regions of m cover its three texts, in order.
func covers(t testing.TB, m Merged) {
	t.Helper()
	at := Region{}
	for _, r := range m.Regions {
		require.Equal(t, [3]int{at.Base.To, at.Ours.To, at.Theirs.To}, [3]int{r.Base.From, r.Ours.From, r.Theirs.From})
		require.True(t, r.Origin != Conflict || r.Text == nil)
		at = r
	}
	require.Equal(t, [3]int{m.Base.Len(), m.Ours.Len(), m.Theirs.Len()}, [3]int{at.Base.To, at.Ours.To, at.Theirs.To})
}

// mergeAsGit compares n merges with those of git merge-file, byte for byte. A triple is made from its number alone.
func mergeAsGit(t *testing.T, n int, triples func(seed uint64) triple) {
	t.Helper()
	need(t, "git")
	var last atomic.Int64
	for worker := range runtime.GOMAXPROCS(0) {
		t.Run(fmt.Sprint("worker ", worker), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for i := last.Add(1); i <= int64(n); i = last.Add(1) {
				sameMerge(t, dir, uint64(i), triples(uint64(i)))
			}
		})
	}
}

// sameMerge compares our merge of x with that of git, in dir. Every fourth one is shown as zdiff3.
func sameMerge(t *testing.T, dir string, seed uint64, x triple) {
	t.Helper()
	write(t, dir, "base", x.base)
	write(t, dir, "ours", x.ours)
	write(t, dir, "theirs", x.theirs)
	option, style := "--diff3", Diff3
	if seed%4 == 0 {
		option, style = "--zdiff3", ZDiff3
	}
	want, code := host(t, dir, "git", "merge-file", "-p", option, "-L", "ours", "-L", "the base", "-L", "theirs", "ours", "base", "theirs")
	got, conflicts := x.shown(t, style)
	if got != string(want) {
		require.Equal(t, string(want), got, "triple %d, %s:\n%q\n%q\n%q", seed, option, x.base, x.ours, x.theirs)
	}
	require.Equal(t, code, min(conflicts, 127), "the conflicts of triple %d", seed)
}

func TestMergeAsGit(t *testing.T) {
	mergeAsGit(t, cases(300, 80_000), func(seed uint64) triple {
		base, ours, theirs := tripleOfTexts(seeded(seed), 24)
		return triple{base, ours, theirs}
	})
}

func TestMergeSourcesAsGit(t *testing.T) {
	_, err := sources()
	require.NoError(t, err)
	mergeAsGit(t, cases(60, 20_000), func(seed uint64) triple {
		r := seeded(seed)
		base := source(t, r)
		return triple{base, rewritten(r, base, r.IntN(12)), rewritten(r, base, r.IntN(12))}
	})
}

func TestMerge(t *testing.T) {
	const base = "1\n2\n3\n4\n5\n"
	for _, tt := range []struct {
		name, ours, theirs string
		want               string // as Take has it for ours
		conflicts          int
	}{
		{"nothing", base, base, base, 0},
		{"ours alone", "1\n2\n", base, "1\n2\n", 0},
		{"theirs alone", base, "", "", 0},
		{"apart", "one\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n", "one\n2\n3\n4\nfive\n", 0},
		{"the same change", "1\n2\n3\nfour\n5\n", "1\n2\n3\nfour\n5\n", "1\n2\n3\nfour\n5\n", 0},
		{"the same change and another", "1\n2\n3\nfour\n5\n", "0\n1\n2\n3\nfour\n5\n", "0\n1\n2\n3\nfour\n5\n", 0},
		{"the same line gone", "1\n2\n4\n5\n", "1\n2\n4\n5\n", "1\n2\n4\n5\n", 0},
		{"one line", "1\n2\nthree\n4\n5\n", "1\n2\nTHREE\n4\n5\n", "1\n2\nthree\n4\n5\n", 1},
		{"two conflicts", "one\n2\n3\n4\nfive\n", "ONE\n2\n3\n4\nFIVE\n", "one\n2\n3\n4\nfive\n", 2},
		{"changes that touch", "1\ntwo\n3\n4\n5\n", "1\n2\nthree\n4\n5\n", "1\ntwo\n3\n4\n5\n", 1},
		{"additions in one place", base + "6\n", base + "six\n", base + "6\n", 1},
		{"an edit in lines that go", "1\n5\n", "1\n2\nthree\n4\n5\n", "1\n5\n", 1},
		{"a lost line feed", "1\n2\n3\n4\n5", "one\n2\n3\n4\n5\n", "one\n2\n3\n4\n5", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := Merge([]byte(base), []byte(tt.ours), []byte(tt.theirs))
			covers(t, m)
			require.Equal(t, tt.conflicts, m.Conflicts())
			require.Equal(t, tt.conflicts == 0, m.Clean())
			require.Equal(t, tt.want, string(m.Take(Ours)))
		})
	}
}

// A conflict says which lines of each text are in it, and the regions around it where the merged lines are from.
func TestMergeRegions(t *testing.T) {
	m := Merge([]byte("a\nb\nc\nd\ne\nf\ng\n"), []byte("a\nB\nB\nc\nd\nf\ng\n"), []byte("a\nbb\nc\nd\ne\nf\nG\n"))
	require.Equal(t, []Region{
		{Agreed, Range{0, 1}, Range{0, 1}, Range{0, 1}, []byte("a\n")},
		{Conflict, Range{1, 2}, Range{1, 3}, Range{1, 2}, nil},
		{Agreed, Range{2, 4}, Range{3, 5}, Range{2, 4}, []byte("c\nd\n")},
		{Ours, Range{4, 5}, Range{5, 5}, Range{4, 5}, nil},
		{Agreed, Range{5, 6}, Range{5, 6}, Range{5, 6}, []byte("f\n")},
		{Theirs, Range{6, 7}, Range{6, 7}, Range{6, 7}, []byte("G\n")},
	}, m.Regions)
	require.Equal(t, "a\nB\nB\nc\nd\nf\nG\n", string(m.Take(Ours)))
	require.Equal(t, "a\nbb\nc\nd\nf\nG\n", string(m.Take(Theirs)))
	require.Equal(t, "a\nb\nc\nd\nf\nG\n", string(m.Take(Agreed)))
}

// mirrored is m with its sides swapped.
func mirrored(m Merged) Merged {
	m.Ours, m.Theirs = m.Theirs, m.Ours
	var list []Region
	for _, r := range m.Regions {
		r.Ours, r.Theirs = r.Theirs, r.Ours
		switch r.Origin {
		case Ours:
			r.Origin = Theirs
		case Theirs:
			r.Origin = Ours
		}
		list = append(list, r)
	}
	m.Regions = list
	return m
}

// What holds of any three texts: the sides have equal rights, one side alone is taken whole, and equal sides agree.
func TestMergeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, ours, theirs := tripleOfTexts(seeded(rapid.Uint64().Draw(t, "seed")), 20)
		m := Merge(base, ours, theirs)
		require.Equal(t, m, mirrored(Merge(base, theirs, ours)))
		require.Equal(t, m.Words(), mirrored(Merge(base, theirs, ours).Words()))
		require.LessOrEqual(t, m.Words().Conflicts(), m.Conflicts())

		require.Equal(t, string(ours), string(Merge(base, ours, base).Take(Agreed)))
		require.Equal(t, string(theirs), string(Merge(base, base, theirs).Take(Agreed)))
		require.Equal(t, string(ours), string(Merge(base, ours, ours).Take(Agreed)))
	})
}

// FuzzMerge merges any three texts.
func FuzzMerge(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nb b\nc\n"), []byte("a\nb\nc"))
	f.Add([]byte("a\r\nb\r\n"), []byte("b\r\n"), []byte("a\r\nc"))
	f.Fuzz(func(t *testing.T, base, ours, theirs []byte) {
		m := Merge(base, ours, theirs)
		covers(t, m)
		covers(t, m.Words())
		for _, style := range []Style{Diff3, ZDiff3} {
			require.NoError(t, Markers(io.Discard, m, Labels{}, style))
		}
		if m.Clean() {
			require.Equal(t, m.Take(Ours), m.Take(Theirs))
		}
	})
}

func TestMarkers(t *testing.T) {
	for _, tt := range []struct {
		name               string
		base, ours, theirs string
		labels             Labels
		style              Style
		want               string
	}{
		{
			"diff3", "a\nb\nc\n", "a\nx\n1\nc\n", "a\nx\n2\nc\n",
			Labels{"mine", "both had", "yours"},
			Diff3,
			"a\n<<<<<<< mine\nx\n1\n||||||| both had\nb\n=======\nx\n2\n>>>>>>> yours\nc\n",
		},
		{
			"zdiff3", "a\nb\nc\n", "a\nx\n1\ny\nc\n", "a\nx\n2\n3\ny\nc\n",
			Labels{Base: "base"},
			ZDiff3,
			"a\nx\n<<<<<<<\n1\n||||||| base\nb\n=======\n2\n3\n>>>>>>>\ny\nc\n",
		},
		{
			"CRLF, and no line feed at the end", "a\r\nb", "a\r\nours", "a\r\ntheirs",
			Labels{},
			Diff3,
			"a\r\n<<<<<<<\r\nours\r\n|||||||\r\nb\r\n=======\r\ntheirs\r\n>>>>>>>\r\n",
		},
		{
			"no line feed at all", "b", "ours", "",
			Labels{"1", "2", "3"},
			Diff3,
			"<<<<<<< 1\nours\n||||||| 2\nb\n=======\n>>>>>>> 3\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := Merge([]byte(tt.base), []byte(tt.ours), []byte(tt.theirs))
			var w strings.Builder
			require.NoError(t, Markers(&w, m, tt.labels, tt.style))
			require.Equal(t, tt.want, w.String())
		})
	}
}

// A merge that takes one side in its conflicts is that of git with the same option.
func TestTakeAsGit(t *testing.T) {
	need(t, "git")
	dir := t.TempDir()
	for seed := range uint64(cases(40, 4000)) {
		base, ours, theirs := tripleOfTexts(seeded(seed), 24)
		write(t, dir, "base", base)
		write(t, dir, "ours", ours)
		write(t, dir, "theirs", theirs)
		m := Merge(base, ours, theirs)
		for side, option := range map[Origin]string{Ours: "--ours", Theirs: "--theirs"} {
			want, _ := host(t, dir, "git", "merge-file", "-p", "--diff3", option, "ours", "base", "theirs")
			require.Equal(t, string(want), string(m.Take(side)), "triple %d, %s:\n%q\n%q\n%q", seed, option, base, ours, theirs)
		}
	}
}
