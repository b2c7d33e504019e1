package texts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Count is a number of things.
func Count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

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

// OneLine is a name as a line of text shows it: quoted if it holds what would end the line, or hide in it.
func OneLine(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

func Valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func Numbers(lines []int) string {
	text := make([]string, len(lines))
	for i, l := range lines {
		text[i] = fmt.Sprint(l)
	}
	return strings.Join(text, ", ")
}

// JSON is a value as JSON, without the escapes that only HTML needs.
func JSON(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
