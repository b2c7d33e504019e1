package human

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Octal writes the 12 permission bits of a mode as chmod reads them: "0644", "4755".
func Octal(m fs.FileMode) string {
	bits := uint32(m.Perm())
	for flag, bit := range specialBits {
		if m&flag != 0 {
			bits |= bit
		}
	}
	return fmt.Sprintf("%04o", bits)
}

// Mode writes a mode as POSIX ls does: "-rw-r--r--", "lrwxrwxrwx", "drwxrwxrwt".
func Mode(m fs.FileMode) string {
	kind := byte('-')
	switch {
	case m.IsDir():
		kind = 'd'
	case m&fs.ModeSymlink != 0:
		kind = 'l'
	case m&fs.ModeNamedPipe != 0:
		kind = 'p'
	case m&fs.ModeSocket != 0:
		kind = 's'
	case m&fs.ModeCharDevice != 0:
		kind = 'c'
	case m&fs.ModeDevice != 0:
		kind = 'b'
	}
	text := append([]byte{kind}, m.Perm().String()[1:]...)

	// The special bits take the place of an x: lower case over one that is set, upper case over one that is not.
	for _, special := range []struct {
		bit  fs.FileMode
		at   int
		over string
	}{{fs.ModeSetuid, 3, "sS"}, {fs.ModeSetgid, 6, "sS"}, {fs.ModeSticky, 9, "tT"}} {
		switch {
		case m&special.bit == 0:
		case text[special.at] == 'x':
			text[special.at] = special.over[0]
		default:
			text[special.at] = special.over[1]
		}
	}
	return string(text)
}

var specialBits = map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000}

// AllBits has every permission bit set, each where [fs.FileMode] keeps it.
const AllBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// ParseMode reads a mode as chmod takes it: octal digits, or changes to old such as "u+x", "go-w", "a=r,u+w".
func ParseMode(text string, old fs.FileMode) (fs.FileMode, error) {
	if bits, err := strconv.ParseUint(text, 8, 32); err == nil {
		if bits > 0o7777 {
			return 0, fmt.Errorf("mode %q has more than 12 bits", text)
		}
		m := fs.FileMode(bits & 0o777)
		for flag, bit := range specialBits {
			if uint32(bits)&bit != 0 {
				m |= flag
			}
		}
		return m, nil
	}

	// Symbolic clauses apply one after the other, each to what the one before has left.
	m := old & AllBits
	for clause := range strings.SplitSeq(text, ",") {
		changed, err := applyClause(clause, m, old.IsDir())
		if err != nil {
			return 0, fmt.Errorf("mode %q: %w", text, err)
		}
		m = changed
	}
	return m, nil
}

// applyClause applies one clause of a symbolic mode to m: the letters of users, then one or more of an operator and the
// letters of permissions.
func applyClause(clause string, m fs.FileMode, dir bool) (fs.FileMode, error) {
	at := strings.IndexAny(clause, "+-=")
	if at < 0 {
		return 0, fmt.Errorf("want octal digits, or changes such as u+x")
	}
	who, rest := clause[:at], clause[at:]

	if who == "" {
		who = "a"
	}

	// The letters in front choose the users whose bits may change.
	var mask fs.FileMode
	for _, w := range who {
		switch w {
		case 'u':
			mask |= 0o700 | fs.ModeSetuid
		case 'g':
			mask |= 0o070 | fs.ModeSetgid
		case 'o':
			mask |= 0o007
		case 'a':
			mask |= AllBits
		default:
			return 0, fmt.Errorf("unknown class of users %q: want u, g, o or a", w)
		}
	}

	// Operators with their permissions follow. The clause u+r-w has two.
	for rest != "" {
		op := rest[0]
		end := strings.IndexAny(rest[1:], "+-=") + 1
		if end == 0 {
			end = len(rest)
		}

		bits, err := permissions(rest[1:end], m, dir)
		if err != nil {
			return 0, err
		}

		bits &= mask
		switch op {
		case '+':
			m |= bits
		case '-':
			m &^= bits
		case '=':
			m = m&^(mask&^fs.ModeSticky) | bits
		}

		rest = rest[end:]
	}
	return m, nil
}

// permissions reads the letters of permissions in a symbolic mode. The result has their bits for all users.
func permissions(letters string, m fs.FileMode, dir bool) (bits fs.FileMode, err error) {
	for _, l := range letters {
		switch of, ok := letterBits[l]; {
		case ok:
			bits |= of
		case l != 'X':
			return 0, fmt.Errorf("%q is not one of r, w, x, X, s, t", l)
		case dir || m&0o111 != 0: // X is x for a directory, and for a file that somebody may execute already
			bits |= 0o111
		}
	}
	return bits, nil
}

var letterBits = map[rune]fs.FileMode{
	'r': 0o444, 'w': 0o222, 'x': 0o111, 's': fs.ModeSetuid | fs.ModeSetgid, 't': fs.ModeSticky,
}

// Type returns the word for a file's type, in JSON and elsewhere.
func Type(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "file"
	case m.IsDir():
		return "directory"
	case m&fs.ModeSymlink != 0:
		return "symlink"
	case m&fs.ModeNamedPipe != 0:
		return "fifo"
	case m&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}
