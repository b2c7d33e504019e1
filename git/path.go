package git

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"vfsdb/node"
)

// escapes are the letters behind a backslash, beside octal numbers.
var escapes = map[byte]byte{'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\', '"': '"'}

// unquote reads a path in quotes, and returns what follows it. ok is false if it is not well formed.
func unquote(text string) (path, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			return b.String(), text[i+1:], true
		case '\\':
			i++
			if i >= len(text) {
				return "", "", false
			}
			if plain, is := escapes[text[i]]; is {
				b.WriteByte(plain)
				continue
			}

			if i+2 >= len(text) || text[i] < '0' || text[i] > '3' || !octal(text[i+1]) || !octal(text[i+2]) {
				return "", "", false
			}
			b.WriteByte((text[i]-'0')<<6 | (text[i+1]-'0')<<3 | (text[i+2] - '0'))
			i += 2
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

func octal(c byte) bool { return '0' <= c && c <= '7' }

// wholePath reads a path that goes to the end of the line.
func (s *scanner) wholePath(text string) (string, error) {
	if !strings.HasPrefix(text, `"`) {
		return text, nil
	}
	path, rest, ok := unquote(text)
	if !ok || rest != "" {
		return "", s.wrong("%.60q is no path in quotes", text)
	}
	return path, nil
}

// twoPaths reads two paths with a space between them.
func (s *scanner) twoPaths(text string) (from, to string, err error) {
	var ok bool
	rest := ""
	if strings.HasPrefix(text, `"`) {
		if from, rest, ok = unquote(text); ok {
			rest, ok = strings.CutPrefix(rest, " ")
		}
	} else {
		from, rest, ok = strings.Cut(text, " ")
	}
	if !ok {
		return "", "", s.wrong("%.60q is where two paths have to be", text)
	}
	to, err = s.wholePath(rest)
	return from, to, err
}

// checkPath returns why a path can be in no tree of git, or in none of the store; nil if it can. link is whether it is that
// of a symlink.
func checkPath(path string, link bool) error {
	if len(path) > node.MaxPath {
		return syscall.ENAMETOOLONG
	}
	for seg := range strings.SplitSeq(path, "/") {
		switch {
		case seg == "" || seg == "." || seg == "..":
			return fmt.Errorf("a path with the segment %q: %w", seg, syscall.EINVAL)
		case strings.ContainsRune(seg, 0):
			return fmt.Errorf("a path with NUL: %w", syscall.EINVAL)
		case len(seg) > node.MaxName:
			return syscall.ENAMETOOLONG
		case isDotGit(seg):
			return fmt.Errorf("git takes %q for its own directory: %w", seg, syscall.EPERM)
		}
	}
	if link && isDotGitmodules(path[strings.LastIndexByte(path, '/')+1:]) {
		return fmt.Errorf("git refuses a symlink of that name: %w", syscall.EPERM)
	}
	return nil
}

// isDotGit reports whether some file system would take a name for .git.
func isDotGit(name string) bool {
	return slices.ContainsFunc(readings(name), func(part string) bool { return part == ".git" || part == "git~1" })
}

// isDotGitmodules reports whether some file system would take a name for .gitmodules.
func isDotGitmodules(name string) bool {
	return slices.ContainsFunc(readings(name), func(part string) bool {
		if part == ".gitmodules" {
			return true
		}

		// The short names of NTFS: after the fourth, they begin with a part of the hash of the long one.
		start, number, short := strings.Cut(part, "~")
		switch {
		case !short || number == "" || strings.Trim(number, "0123456789") != "":
			return false
		case start == "gitmod":
			return len(number) == 1 && '1' <= number[0] && number[0] <= '4'
		}
		return strings.HasPrefix("gi7eba", start) && len(part) == 8 && number[0] != '0'
	})
}

// readings returns what file systems may take a name for: one that ignores case, HFS+, which ignores some characters too, or
// NTFS, which drops dots, spaces and what is behind a colon, and to which a backslash separates names.
func readings(name string) []string {
	parts := strings.Split(folded(name), `\`)
	for i, part := range parts {
		part, _, _ = strings.Cut(part, ":")
		parts[i] = strings.TrimRight(part, ". ")
	}
	return parts
}

// folded returns a name in lower case, without the characters that HFS+ ignores.
func folded(name string) string {
	if !utf8.ValidString(name) {
		return strings.ToLower(name)
	}
	return strings.ToLower(strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, name))
}

// CheckRef returns EINVAL for what can be no name of a ref, by the rules of git check-ref-format.
func CheckRef(name string) error {
	bad := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) }
	wrong := !strings.HasPrefix(name, "refs/") || strings.HasSuffix(name, ".") || strings.Contains(name, "..") ||
		strings.Contains(name, "@{") || strings.ContainsFunc(name, bad)
	for seg := range strings.SplitSeq(name, "/") {
		wrong = wrong || seg == "" || seg[0] == '.' || strings.HasSuffix(seg, ".lock")
	}
	if wrong {
		return fmt.Errorf("%q can be no ref of git: %w", name, syscall.EINVAL)
	}
	return nil
}
