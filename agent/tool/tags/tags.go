package tags

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"vfsdb/agent/tool/texts"
)

const tagName = "workspace_tool_result"

// Fence wraps bytes of the store in tags that mark them as untrusted. Text inside that might pass for a tag is made
// harmless, so that contents cannot pretend to end early.
func Fence(workspace, op, ref, contents string) string {
	return fmt.Sprintf("<%s untrusted=\"true\" workspace=\"%s\" op=\"%s\" ref=\"%s\">\n%s\n</%s>",
		tagName, attribute(workspace), attribute(op), attribute(ref), neutral(contents), tagName)
}

// attribute escapes the value of an attribute: XML's five, line breaks, and what else would not be seen.
func attribute(s string) string {
	escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;").Replace(s)
	return invisible(escaped, func(r rune) string { return fmt.Sprintf("&#%d;", r) })
}

// Line puts a text of ours on one line, and takes the tags out of it. It may quote names and a model's own words.
func Line(s string) string {
	return neutral(invisible(s, func(r rune) string {
		quoted := fmt.Sprintf("%+q", r)
		return quoted[1 : len(quoted)-1]
	}))
}

// invisible replaces the runes that would break a line, or not be seen on it.
func invisible(s string, by func(rune) string) string {
	hidden := func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			b.WriteString(by(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// neutral writes &lt; for the bracket of each text that a model might take for a tag of ours, opening or closing: in
// any case, with spaces, line breaks, invisible runes or marks between its letters, or in letters that only look like
// them.
func neutral(s string) string {
	if !strings.ContainsFunc(s, opensTag) {
		return s
	}
	var b strings.Builder
	done := 0
	for i, r := range s {
		if opensTag(r) && namesTag(s[i+utf8.RuneLen(r):]) {
			b.WriteString(s[done:i])
			b.WriteString("&lt;")
			done = i + utf8.RuneLen(r)
		}
	}
	return b.String() + s[done:]
}

// opensTag reports whether a rune is a bracket that opens a tag, or looks like one.
func opensTag(r rune) bool {
	return r == '<' || r > unicode.MaxASCII && strings.ContainsRune("＜﹤‹«〈〈⟨❮˂ᐸ≺", r)
}

// tagLetters is the name of the tag without its underscores.
const tagLetters = "workspacetoolresult"

// namesTag reports whether the text behind a bracket begins with the name of our tag, with or without a slash before
// it.
func namesTag(s string) bool {
	left := tagLetters
	for _, r := range s {
		switch {
		case fills(r):
		case left == tagLetters && strings.ContainsRune(`/\／∕⁄╱⧸`, r):
		case letter(r) != rune(left[0]):
			return false
		default:
			if left = left[1:]; left == "" {
				return true
			}
		}
	}
	return false
}

// fills reports whether a rune is ignored between the letters of a tag.
func fills(r rune) bool {
	return r == '_' || r == '-' || r == '＿' || unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf, unicode.M)
}

// letter returns the small Latin letter that a rune is, or looks like.
func letter(r rune) rune {
	switch {
	case r >= '！' && r <= '～': // the full width forms of ASCII
		r -= '！' - '!'
	case r >= 0x1d400 && r <= 0x1d6a3: // the alphabets of mathematics: capitals and small letters in turn
		r = 'a' + (r-0x1d400)%26
	case r >= 'ⓐ' && r <= 'ⓩ':
		r -= 'ⓐ' - 'a'
	case r >= 'Ⓐ' && r <= 'Ⓩ':
		r -= 'Ⓐ' - 'a'
	}
	r = unicode.ToLower(r)
	if like, ok := lookalikes[r]; ok {
		return like
	}
	return r
}

// lookalikes are letters of other scripts that look like those of the tag.
var lookalikes = map[rune]rune{
	'а': 'a', 'α': 'a', 'ɑ': 'a', 'с': 'c', 'ϲ': 'c', 'е': 'e', 'ε': 'e', 'к': 'k', 'κ': 'k', 'ӏ': 'l', 'ι': 'l',
	'о': 'o', 'ο': 'o', 'р': 'p', 'ρ': 'p', 'г': 'r', 'ѕ': 's', 'т': 't', 'τ': 't', 'υ': 'u', 'ս': 'u', 'ԝ': 'w', 'ω': 'w',
}

// An Untrusted value is a structured result of a profile with tags. JSON has no place for tags, so the object has a
// field "untrusted", and no string in it can pass for a tag.
type Untrusted struct{ Value any }

// MarshalJSON encodes the value, which has to be an object.
func (u Untrusted) MarshalJSON() ([]byte, error) {
	text, err := texts.JSON(u.Value)
	if err != nil {
		return nil, err
	}
	if text, err = neutralJSON(text); err != nil {
		return nil, err
	}
	fields, ok := strings.CutPrefix(text, "{")
	if !ok {
		return nil, fmt.Errorf("a structured result is no object: %T", u.Value)
	}
	if fields != "}" {
		fields = "," + fields
	}
	return []byte(`{"untrusted":true` + fields), nil
}

// neutralJSON applies neutral to each string of a JSON text, keys included.
func neutralJSON(text string) (string, error) {
	if !strings.ContainsFunc(text, opensTag) {
		return text, nil
	}
	var b strings.Builder
	for {
		from := strings.IndexByte(text, '"')
		if from < 0 {
			return b.String() + text, nil
		}
		to := from + 1
		for text[to] != '"' {
			if text[to] == '\\' {
				to++
			}
			to++
		}

		b.WriteString(text[:from])
		var s string
		if err := json.Unmarshal([]byte(text[from:to+1]), &s); err != nil {
			return "", err
		}

		clean, err := texts.JSON(neutral(s))
		if err != nil {
			return "", err
		}
		b.WriteString(clean)
		text = text[to+1:]
	}
}
