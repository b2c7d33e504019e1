package gitname

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Symlink is the mode of a symlink.
const Symlink = "120000"

// Mode returns the mode of a file, or "" of a type that git does not have. A directory has none: it is its files.
func Mode(m fs.FileMode) string {
	switch {
	case m.Type() == fs.ModeSymlink:
		return Symlink
	case !m.IsRegular():
		return ""
	case m&0o100 != 0:
		return "100755"
	}
	return "100644"
}

// letters are the control characters that have a letter.
var letters = map[byte]byte{'\a': 'a', '\b': 'b', '\t': 't', '\n': 'n', '\v': 'v', '\f': 'f', '\r': 'r', '"': '"', '\\': '\\'}

// Quote returns a path as it is, or in quotes with escapes if it has control characters, quotes, backslashes or bytes beyond
// ASCII. This is the default of git; core.quotePath=false would leave the bytes beyond ASCII alone.
func Quote(path string) string {
	if !slices.ContainsFunc([]byte(path), special) {
		return path
	}

	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch letter := letters[path[i]]; {
		case letter != 0:
			b.WriteByte('\\')
			b.WriteByte(letter)
		case special(path[i]):
			fmt.Fprintf(&b, `\%03o`, path[i])
		default:
			b.WriteByte(path[i])
		}
	}
	b.WriteByte('"')
	return b.String()
}

// special reports whether a byte of a path has to be escaped.
func special(c byte) bool { return c < ' ' || c >= 0x7f || c == '"' || c == '\\' }
