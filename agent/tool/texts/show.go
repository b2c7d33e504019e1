package texts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Count returns a number with the right form of a noun.
func Count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// Few names the first five paths of a list, and marks that there are more.
func Few(paths []string) string {
	var names []string
	for _, p := range paths[:min(5, len(paths))] {
		names = append(names, OneLine(p))
	}
	if len(paths) > 5 {
		names = append(names, "...")
	}
	return strings.Join(names, ", ")
}

// OneLine returns a name that fits on one line: quoted if it has characters that cannot be printed.
func OneLine(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// Valid returns s as UTF-8, with a replacement character for what is not.
func Valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// Numbers returns numbers with commas between them.
func Numbers(lines []int) string {
	text := make([]string, len(lines))
	for i, l := range lines {
		text[i] = fmt.Sprint(l)
	}
	return strings.Join(text, ", ")
}

// JSON returns a value as JSON, without the escapes that only HTML needs.
func JSON(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
