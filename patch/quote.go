package patch

import (
	"fmt"
	"strings"
)

// escapes are the control characters that have a letter.
var escapes = map[byte]byte{'\a': 'a', '\b': 'b', '\t': 't', '\n': 'n', '\v': 'v', '\f': 'f', '\r': 'r', '"': '"', '\\': '\\'}

// quote returns a path as git writes it: in quotes, with escapes, if it has control characters, quotes, backslashes or bytes
// beyond ASCII.
func quote(p string) string {
	special := func(c byte) bool { return c < ' ' || c >= 0x7f || c == '"' || c == '\\' }
	plain := true
	for i := range len(p) {
		plain = plain && !special(p[i])
	}
	if plain {
		return p
	}

	var b strings.Builder
	b.WriteByte('"')
	for i := range len(p) {
		switch letter := escapes[p[i]]; {
		case letter != 0:
			b.WriteByte('\\')
			b.WriteByte(letter)
		case special(p[i]):
			fmt.Fprintf(&b, `\%03o`, p[i])
		default:
			b.WriteByte(p[i])
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Name returns a path as a line of a patch has it. That of a renamed file shows both paths, as git diff --stat does.
func (f *File) Name() string {
	if f.From == "" {
		return quote(f.Path)
	}
	if quoted := quote(f.From + f.Path); quoted[0] == '"' {
		return quote(f.From) + " => " + quote(f.Path)
	}

	// The common directories in front and behind stand once: dir/{old => new}/file.
	a, b := f.From, f.Path
	front := 0
	for i := 0; i < min(len(a), len(b)) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			front = i + 1
		}
	}
	least := max(front-1, 0) // the slash in front may be the one behind
	back := 0
	for i := 1; len(a)-i >= least && len(b)-i >= least && a[len(a)-i] == b[len(b)-i]; i++ {
		if a[len(a)-i] == '/' {
			back = i
		}
		if i == len(a) || i == len(b) {
			break
		}
	}
	middle := func(s string) string { return s[front:max(front, len(s)-back)] }
	if front+back == 0 {
		return a + " => " + b
	}
	return a[:front] + "{" + middle(a) + " => " + middle(b) + "}" + a[len(a)-back:]
}
