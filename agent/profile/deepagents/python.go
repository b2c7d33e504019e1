package deepagents

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"vfsdb/agent/tool"
)

// pyList writes a list of paths as Python does, as many as fit a result. With more, it adds that there are others. An
// empty list is a sentence.
func pyList(paths []string, more bool) tool.Text {
	if len(paths) == 0 {
		return "No files found"
	}
	room := limit
	for i, p := range paths {
		if room -= utf8.RuneCountInString(p); room < 0 {
			paths, more = paths[:i], true
			break
		}
	}
	if more {
		paths = append(paths, guidance)
	}
	list := make([]string, len(paths))
	for i, p := range paths {
		list[i] = pyString(p)
	}
	return tool.Text("[" + strings.Join(list, ", ") + "]")
}

// pyString writes a string as Python does.
func pyString(s string) string {
	quote := '\''
	if strings.ContainsRune(s, '\'') && !strings.ContainsRune(s, '"') {
		quote = '"'
	}

	var b strings.Builder
	b.WriteRune(quote)
	for _, r := range s {
		switch {
		case r == quote || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(pyEscape(r))
		}
	}
	b.WriteRune(quote)
	return b.String()
}

// pyEscape writes a character by its number, in as many digits as Python gives it.
func pyEscape(r rune) string {
	digits := strconv.FormatInt(int64(r), 16)
	switch {
	case r <= 0xFF:
		return `\x` + strings.Repeat("0", 2-len(digits)) + digits
	case r <= 0xFFFF:
		return `\u` + strings.Repeat("0", 4-len(digits)) + digits
	}
	return `\U` + strings.Repeat("0", 8-len(digits)) + digits
}
