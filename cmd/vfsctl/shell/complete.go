package shell

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
)

// A cursor is the end of what was typed.
type cursor struct {
	words []string // of the command, before the last one
	start int      // where the last word begins
	typed string   // the last word, without quotes
	quote byte     // that is open in it, or 0
	host  bool     // it is of a command of the host
}

// newCursor takes apart what was typed. It reads quotes as parse does, and takes incomplete text.
func newCursor(text string) cursor {
	c := cursor{host: strings.HasPrefix(strings.TrimSpace(text), "!")}
	var word []byte
	inside := false
	end := func(next int) {
		if inside {
			c.words = append(c.words, string(word))
		}
		word, inside, c.start = nil, false, next
	}

	for i := 0; i < len(text); i++ {
		b := text[i]
		switch {
		case c.quote != 0 && b == c.quote:
			c.quote = 0
		case b == '\\' && c.quote != '\'' && i+1 < len(text):
			i++
			word, inside = append(word, text[i]), true
		case c.quote != 0:
			word = append(word, b)
		case b == '\'' || b == '"':
			c.quote, inside = b, true
		case b == ' ' || b == '\t' || b == '\n':
			end(i + 1)
		case b == ';' || b == '&' || b == '|':
			c.host = c.host || b == '|' && text[i-min(i, 1)] != '|' && !strings.HasPrefix(text[i+1:], "|")
			if b == ';' || b == '&' {
				c.host = false
			}
			end(i + 1)
			c.words = nil
		default:
			word, inside = append(word, b), true
		}
	}
	c.typed = string(word)
	if len(c.words) > 0 && c.words[0] == "vfsctl" {
		c.words = c.words[1:]
	}
	return c
}

// complete returns what the last word before the cursor may become, in the form that the line editor wants: the text in front
// of that word, the words, and the text behind the cursor. Positions are in runes.
func (s *session) complete(line string, pos int) (head string, all []string, tail string) {
	runes := []rune(line)
	text, tail := string(runes[:pos]), string(runes[pos:])
	c := newCursor(text)
	if c.host {
		return text, nil, tail
	}
	return text[:c.start], c.spellAll(s.suggest(c)), tail
}

// spellAll writes suggestions as they are typed. The line editor replaces the word by what they have in common: a quote stands in
// front of all of them or of none, or else that would be less than what was typed.
func (c cursor) spellAll(words []string) (all []string) {
	quoted := func(word string) bool { return human.CommandLine(word) != word }
	if c.quote == 0 && len(words) > 1 && slices.ContainsFunc(words, quoted) {
		c.quote = '\''
	}
	for _, word := range words {
		all = append(all, c.spell(word))
	}
	return all
}

// spell writes a suggestion as it is typed. A directory, a tree and a flag that has a value go on.
func (c cursor) spell(word string) string {
	end := " "
	if strings.HasSuffix(word, "/") || strings.HasSuffix(word, ":") || strings.HasSuffix(word, "=") {
		end = ""
	}
	if c.quote == 0 {
		return human.CommandLine(word) + end
	}
	if end != "" {
		end = string(c.quote) + end
	}
	if c.quote == '\'' {
		word = strings.ReplaceAll(word, "'", `'\''`)
	} else {
		word = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(word)
	}
	return string(c.quote) + word + end
}

// suggest asks the completion that the shells of the host use too.
func (s *session) suggest(c cursor) (all []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	words := []cli.Word{{Text: cobra.ShellCompNoDescRequestCmd}}
	for _, w := range append(c.words, c.typed) {
		words = append(words, cli.Word{Text: w})
	}
	var out, errs bytes.Buffer
	s.Run(ctx, words, taken{}, &out, &errs)

	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	last := len(lines) - 1
	code, err := strconv.Atoi(strings.TrimPrefix(lines[last], ":"))
	if err != nil {
		return nil
	}
	flag, _, valued := strings.Cut(c.typed, "=")
	for _, word := range lines[:last] {
		if valued && strings.HasPrefix(flag, "-") && !strings.HasPrefix(word, "-") {
			word = flag + "=" + word
		}
		all = append(all, word)
	}
	if len(all) == 0 && cobra.ShellCompDirective(code)&cobra.ShellCompDirectiveNoFileComp == 0 {
		return hostFiles(c.typed)
	}
	return all
}

// hostFiles suggests files of the host.
func hostFiles(typed string) (all []string) {
	dir, base := filepath.Split(typed)
	entries, err := os.ReadDir(filepath.Join(".", dir))
	if filepath.IsAbs(dir) {
		entries, err = os.ReadDir(dir)
	}
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, base) || !human.IsPrintable(name) || base == "" && strings.HasPrefix(name, ".") {
			continue
		}
		if e.IsDir() {
			name += "/"
		}
		all = append(all, dir+name)
	}
	return all
}
