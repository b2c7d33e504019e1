package search

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// matching returns the lines that match, by way of the finder as Grep goes, or by a match of each line.
func matching(m lineMatcher, text []byte, find bool) (lines []int) {
	for from, n := 0, 0; from < len(text); n++ {
		if find {
			i := m.find(text[from:])
			if i < 0 {
				return lines
			}
			skipped := text[from : from+i]
			n += bytes.Count(skipped, []byte{'\n'})
			if from += 1 + bytes.LastIndexByte(skipped, '\n'); from == len(text) {
				return lines
			}
		}
		line, next := cutLine(text, from)
		if m.match(line) {
			lines = append(lines, n)
		}
		from = next
	}
	return lines
}

// The needs of a pattern, as the finder that is chosen for them shows.
func TestNeed(t *testing.T) {
	for _, tt := range []struct {
		pattern     string
		regex, fold bool
		want        string
	}{
		{"SearchInts", false, false, "SearchInts"},
		{"Error", false, true, "[Ee][Rr][Rr][Oo][Rr]"},
		{"task", false, true, "[Tt][Aa][Ss][Kk] ſ \u212a"}, // rarer than [Tt][Aa]
		{"é1", false, true, "\xc3[\x89\xa9]1"},
		{`func\s+\w+Context`, true, false, "[0-9A-Z_a-z]Context"},
		{`\d{4}-\d{2}`, true, false, "[0-9][0-9][0-9][0-9]-[0-9][0-9]"},
		{`(?:NOTE|HACK)\(`, true, false, "NOTE HACK"},
		{`a+b+c`, true, false, "bc"},
		{`^\bab\b$`, true, false, "ab"},
		{`x*|yz`, true, false, ""},
		{`.*`, true, false, ""},
		{`[^a]`, true, false, ""},
		{`\w`, true, false, ""}, // on every line
		{"caf\ufffd", true, false, "caf"},
		{`(?i)[k-m]z`, true, false, "[Zz]"}, // the class has the Kelvin sign
	} {
		m, err := newLineMatcher(tt.pattern, tt.regex, tt.fold)
		require.NoError(t, err)
		require.Equal(t, tt.want, shown(m.finder), tt.pattern)
	}
}

// shown writes the runs of a finder.
func shown(f finder) string {
	var r run
	switch f := f.(type) {
	case everyLine:
		return ""
	case eachFinder:
		var all []string
		for _, one := range f.finders {
			all = append(all, shown(one))
		}
		return strings.Join(all, " ")
	case *byteFinder:
		r = f.run
	case *pairFinder:
		r = f.run
	case *classFinder:
		r = f.run
	}
	var b []byte
	for _, c := range r {
		var members []byte
		for v := range 256 {
			if c.has(byte(v)) {
				members = append(members, byte(v))
			}
		}
		switch {
		case len(members) == 1:
			b = append(b, members...)
		case len(members) == 63:
			b = append(b, "[0-9A-Z_a-z]"...)
		case len(members) == 10:
			b = append(b, "[0-9]"...)
		default:
			b = append(append(append(b, '['), members...), ']')
		}
	}
	return string(b)
}

// Expressions that say little in many words take no time to speak of.
func TestNeedIsBounded(t *testing.T) {
	nested := "x"
	for range 200 {
		nested = "((" + nested + ")+a|b)+"
	}
	for _, pattern := range []string{nested, strings.Repeat("(a|b)+", 500), strings.Repeat("(?:", 400) + "a" + strings.Repeat("+b)", 400), "((a{30}){30}|b)+"} {
		if _, err := regexp.Compile(pattern); err == nil {
			needsOfRegexp(pattern).first().finder().find([]byte("aab"))
		}
	}
}

// Finders agree with a search byte by byte.
func TestFinders(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		letters := []byte("abAB\n-z0")[:2+random.IntN(7)]
		text := make([]byte, random.IntN(100))
		for i := range text {
			text[i] = letters[random.IntN(len(letters))]
		}
		var runs need
		for range 1 + random.IntN(3) {
			r := make(run, 1+random.IntN(5))
			for i := range r {
				r[i] = classOf(letters[random.IntN(len(letters))])
				if random.IntN(2) == 0 {
					r[i].add(letters[random.IntN(len(letters))])
				}
			}
			runs = append(runs, r)
		}
		want := -1
		for i := range text {
			for _, r := range runs {
				if want < 0 && i+len(r) <= len(text) && r.isAt(text[i:]) {
					want = i
				}
			}
		}
		each := eachFinder{}
		for _, r := range runs {
			f, _ := r.plan()
			each.finders = append(each.finders, f)
			each.longest = max(each.longest, len(r))
		}
		require.Equal(t, want, each.find(text), "%s in %q", shown(each), text)
	}
}

// FuzzFind compares the lines found with those of a search line by line.
func FuzzFind(f *testing.F) {
	random := rand.New(rand.NewPCG(7, 8))
	letters := []string{"a", "b", "A", "k", "K", "\u212a", "s", "ſ", "é", "É", "ß", "ẞ", "Ω", "ω", "\u2126", "\n", "\n", "\r\n", "\xff", "\xe2\x84", "\ufffd", "-", "7", " ", "\x00"}
	atoms := append([]string{".", "[a-k]", "[^a]", `\d`, `\w+`, `\s`, "(a|k)", "(ab|s+|é)", "(?i:ks)", "(?i:é)", "(?i:[a-k])", "k?", "s*", "(ab)+", "(-7){2,3}", `\b`, "^", "$", "|", "(?s:.)", "a{3}", "[kK]", "((s|a)b)+", `\x{fffd}`, "[é-ö]"}, letters[:15]...)
	pick := func(from []string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(from[random.IntN(len(from))])
		}
		return b.String()
	}
	for i := range 2000 {
		from := letters
		if i%2 == 0 {
			from = atoms
		}
		f.Add(pick(letters, random.IntN(300)), pick(from, 1+random.IntN(5)), i%2 == 0, i%3 == 0)
	}
	f.Fuzz(func(t *testing.T, text, pattern string, regex, fold bool) {
		m, err := newLineMatcher(pattern, regex, fold)
		if err != nil {
			return
		}
		if !regex { // the rule itself, which is that of package regexp
			expr := regexp.QuoteMeta(pattern)
			if fold {
				expr = "(?i)" + expr
				m.match = regexp.MustCompile(expr).Match
			}
		}
		require.Equal(t, matching(m, []byte(text), false), matching(m, []byte(text), true), "%q in %q, found by %s", pattern, text, shown(m.finder))
	})
}
