package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// literal returns the text of a word that is the same in every run, with its quotes and backslashes taken away.
func literal(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(part.Value, "*?[~") && part.Value != "[" {
				return "", false // the shell may put another name in its place
			}
			b.WriteString(unescape(part.Value))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inside := range part.Parts {
				lit, ok := inside.(*syntax.Lit)
				if !ok {
					return "", false
				}
				b.WriteString(unescape(lit.Value))
			}
		default:
			return "", false
		}
	}

	return b.String(), true
}

// leading returns the plain text at the beginning of a word, with or without quotes.
func leading(w *syntax.Word) string {
	switch part := w.Parts[0].(type) {
	case *syntax.Lit:
		return unescape(part.Value)
	case *syntax.SglQuoted:
		return part.Value
	case *syntax.DblQuoted:
		if len(part.Parts) > 0 {
			if lit, ok := part.Parts[0].(*syntax.Lit); ok {
				return unescape(lit.Value)
			}
		}
	}
	return ""
}

// quoted reports whether a part of a word is quoted, so that the here-document which it ends is not expanded.
func quoted(w *syntax.Word) bool {
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok || strings.Contains(lit.Value, `\`) {
			return true
		}
	}
	return false
}

func isQuoted(part syntax.WordPart) bool {
	switch part.(type) {
	case *syntax.SglQuoted, *syntax.DblQuoted:
		return true
	}
	return false
}

// oneWord reports whether a word stays one when the shell expands it: what is not plain text is in double quotes.
func oneWord(w *syntax.Word) bool {
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok && !isQuoted(part) || ok && strings.ContainsAny(lit.Value, "*?[~") {
			return false
		}
	}
	return true
}

// unescape takes backslashes away as the shell does outside of single quotes. Inside of double quotes it would keep
// most of them; a name with one is then another one, which no list has.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
			if text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
