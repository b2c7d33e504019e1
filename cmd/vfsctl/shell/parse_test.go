package shell

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
)

// texts returns the words of a step, each in brackets if it is a pattern.
func texts(words []cli.Word) (all []string) {
	for _, w := range words {
		if len(w.Plain) > 0 {
			w.Text = "[" + w.Text + "]"
		}
		all = append(all, w.Text)
	}
	return all
}

// show writes steps with their structure.
func show(steps ...*step) string {
	var all []string
	for _, s := range steps {
		switch {
		case s.first != nil && s.or:
			all = append(all, "("+show(s.first)+" or "+show(s.second)+")")
		case s.first != nil:
			all = append(all, "("+show(s.first)+" and "+show(s.second)+")")
		case s.host != "":
			all = append(all, strings.Join(texts(s.words), ",")+"|"+s.host)
		default:
			all = append(all, strings.Join(texts(s.words), ","))
		}
	}
	return strings.Join(all, "; ")
}

func TestParse(t *testing.T) {
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	for text, want := range map[string]string{
		"":                          "",
		"# nothing":                 "",
		"ls -l  docs # it":          "ls,-l,docs",
		"ls; pwd":                   "ls; pwd",
		"ls\npwd\n":                 "ls; pwd",
		"vfsctl ls":                 "ls",
		"vfsctl":                    "",
		"a && b || c":               "((a and b) or c)",
		`a "b c" 'd"e' f\ g`:        `a,b c,d"e,f g`,
		`a "\$x \"y\" \z" '\'`:      `a,$x "y" \z,\`,
		"a b\\\nc":                  "a,bc",
		`a *.md '*'x "[" \*`:        "a,[*.md],*x,[,*",
		"a main@{-3}:x/*":           "a,[main@{-3}:x/*]",
		"a 'main@{2 days ago}:x'":   "a,main@{2 days ago}:x",
		"a ~/x ~ '~/x' x~ b/~":      "a," + home + "/x," + home + ",~/x,x~,b/~",
		"cat a | head -1":           "cat,a|head -1",
		"cat a | head >x 2>&1 |wc":  "cat,a|head >x 2>&1 |wc",
		"cat a | head && ls":        "(cat,a|head and ls)",
		"! git log | head; pwd":     "|git log | head; pwd",
		"  !ls":                     "|ls",
		"cat x | sh -c 'echo $x' #": "cat,x|sh -c 'echo $x'",
		"diff -p a b|less":          "diff,-p,a,b|less",
	} {
		steps, more, err := parse(text)
		require.NoError(t, err, text)
		require.False(t, more, text)
		require.Equal(t, want, show(steps...), text)
	}

	for _, text := range []string{"a 'b", `a "b`, "a \\\n", "a &&", "a |", "if a"} {
		_, more, err := parse(text)
		require.True(t, more || err == nil, text)
	}
	for _, text := range []string{
		"a > b", "a < b", "a &", "a |& b", "x=1", "x=1 a", "a $x", `a "$x"`, "a `b`", "a $(b)", "(a)", "{ a; }", "if a; then b; fi", "a)", "!", "a <<x\nx\n",
		"for x in y; do z; done", "f() { a; }", "(a) | b", "a > b | c", "time a &",
	} {
		_, more, err := parse(text)
		require.ErrorIs(t, err, syscall.EINVAL, text)
		require.False(t, more, text)
	}
}

// No text makes the parser fail in another way than by an error, and quoted words are read back as they are.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"ls -l", "a 'b c' | d", `a "\`, "a && b || c; d", "cat x | sed 's/|/x/' | y", "!x", "a {b,c}*[d-e]? ~/x", "a \\\nb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		steps, _, err := parse(text)
		if err != nil {
			require.ErrorIs(t, err, syscall.EINVAL)
		}
		for _, s := range steps {
			_ = show(s)
		}
		c := newCursor(text)
		require.LessOrEqual(t, c.start, len(text))

		if text == "" || strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
			return
		}
		words := []string{"cat", text, text + " x"}
		steps, _, err = parse(human.CommandLine(words...))
		require.NoError(t, err)
		require.Len(t, steps, 1)
		var got []string
		for _, w := range steps[0].words {
			require.Empty(t, w.Plain)
			got = append(got, w.Text)
		}
		require.Equal(t, words, got)

		// What a completion writes is read back too.
		for _, quote := range []byte{0, '\'', '"'} {
			typed := "cat " + cursor{quote: quote}.spell(text)
			if quote != 0 && !strings.HasSuffix(typed, " ") { // a word that goes on keeps its quote open
				typed += string(quote)
			}
			steps, _, err = parse(typed)
			require.NoError(t, err)
			require.Equal(t, text, steps[0].words[1].Text)
		}
	})
}

func TestCursor(t *testing.T) {
	for text, want := range map[string]cursor{
		"":                {},
		"l":               {typed: "l"},
		"ls ":             {words: []string{"ls"}, start: 3},
		"ls do":           {words: []string{"ls"}, start: 3, typed: "do"},
		"vfsctl ls do":    {words: []string{"ls"}, start: 10, typed: "do"},
		`cat "a b`:        {words: []string{"cat"}, start: 4, typed: "a b", quote: '"'},
		`cat a\ b`:        {words: []string{"cat"}, start: 4, typed: "a b"},
		`cat '' x`:        {words: []string{"cat", ""}, start: 7, typed: "x"},
		"ls; cat x":       {words: []string{"cat"}, start: 8, typed: "x"},
		"ls && cat x":     {words: []string{"cat"}, start: 10, typed: "x"},
		"ls || cat x":     {words: []string{"cat"}, start: 10, typed: "x"},
		"ls | gre":        {start: 5, typed: "gre", host: true},
		"ls | grep x; ca": {start: 13, typed: "ca"},
		"!gi":             {typed: "!gi", host: true},
		"cat ö":           {words: []string{"cat"}, start: 4, typed: "ö"},
	} {
		require.Equal(t, want, newCursor(text), text)
	}
}

// What the editor types when several words fit has at least what was typed, so all of them are quoted or none is.
func TestSpellAll(t *testing.T) {
	require.Equal(t, []string{"docs/", "dog "}, cursor{}.spellAll([]string{"docs/", "dog"}))
	require.Equal(t, []string{"'docs/", "'do$lar' "}, cursor{}.spellAll([]string{"docs/", "do$lar"}))
	require.Equal(t, []string{"'do$lar' "}, cursor{}.spellAll([]string{"do$lar"}))
	require.Equal(t, []string{`"docs/`, `"do\$lar" `}, cursor{quote: '"'}.spellAll([]string{"docs/", "do$lar"}))
}

func TestOpenQuote(t *testing.T) {
	for text, want := range map[string]string{
		"ls 'a\n": "'", "ls \"a\n": `"`, "ls 'a' \"it's\n": `"`, "ls && 'a\n": "'",
		"ls && # it's\n": "", "ls \\\n": "", "ls |\n": "", "(ls\n": "", "cat <<E\n": "",
	} {
		_, more, _ := parse(text)
		require.True(t, more, text)
		require.Equal(t, want, openQuote(text), text)
	}
}

// A quote that nothing closes reads the whole script, and each line of it once: the test would not end otherwise.
func TestScriptWithOpenQuote(t *testing.T) {
	s := &session{Shell: &cli.Shell{}}
	err := s.script(t.Context(), strings.NewReader("ls 'a\n"+strings.Repeat("ls \"b\"\n", 200_000)))
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "line 200001: ")
}

func TestFit(t *testing.T) {
	require.Equal(t, "main:/docs> ", fit("main", "/docs", 80))
	require.Equal(t, "...cdefghijklmnopqrs> ", fit("main", "/abcdefghijklmnopqrs", 40))
	require.Equal(t, "a?b:/> ", fit("a\x1bb", "/", 80))
}
