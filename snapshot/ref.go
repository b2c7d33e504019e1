package snapshot

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Ref is a reference to a tree, in its parts. At most one of the last three is set: they choose a moment of the past of the
// tree that has the name.
type Ref struct {
	Name string    // of a branch, a snapshot, or branch@snapshot; "" is the tree that is at hand
	Time time.Time // the moment at this time
	Call int64     // the moment after this call
	Back int       // the moment before the last so many calls
}

// ParseRef takes a reference apart. It is a name, or name@{moment}, where the moment is a time for [ParseTime], a call (call 71), or how many calls to go back (-3). The name may be
// left out before a moment. Any other moment, and a time in the future, is EINVAL. Names are not checked.
func ParseRef(text string, now time.Time) (Ref, error) {
	name, moment, ok := cutMoment(text)
	if !ok {
		return Ref{Name: text}, nil
	}

	r := Ref{Name: name}
	words := strings.Fields(moment)
	switch {
	case len(words) == 1 && words[0][0] == '-':
		if n, err := strconv.ParseUint(words[0][1:], 10, 31); err == nil && n > 0 {
			r.Back = int(n)
			return r, nil
		}
	case len(words) == 2 && words[0] == "call":
		if n, err := strconv.ParseUint(words[1], 10, 63); err == nil && n > 0 {
			r.Call = int64(n)
			return r, nil
		}
	default:
		at, err := ParseTime(moment, now)
		if err == nil && at.After(now) {
			return Ref{}, refuse(text, syscall.EINVAL, "%s is in the future", moment)
		}
		if err == nil {
			r.Time = at
			return r, nil
		}
	}
	return Ref{}, refuse(text, syscall.EINVAL, "%q is no moment; write 2 hours ago, 2026-11-22T10:00:00Z, call 71 or -3", moment)
}

// cutMoment cuts name@{moment}. No name has an '@', but branch@snapshot has one.
func cutMoment(text string) (name, moment string, ok bool) {
	i := strings.LastIndex(text, "@{")
	if i < 0 || !strings.HasSuffix(text, "}") {
		return text, "", false
	}
	return text[:i], text[i+2 : len(text)-1], true
}

// BaseOf returns the name before the moment of a reference, and whether the reference has one. The name may be empty.
func BaseOf(text string) (name string, moment bool) {
	name, _, moment = cutMoment(text)
	return name, moment
}

// cutPath returns the ways to take a reference and a path apart at a colon: the shortest reference first. A colon within the
// braces of a moment, or behind a slash, does not count.
func cutPath(text string) (ways [][2]string) {
	inside := false
	for i := range len(text) {
		switch {
		case !inside && text[i] == '/':
			return ways
		case text[i] == '{' && i > 0 && text[i-1] == '@':
			inside = true
		case text[i] == '}':
			inside = false
		case !inside && text[i] == ':' && i > 0:
			ways = append(ways, [2]string{text[:i], text[i+1:]})
		}
	}
	return ways
}

// refuse returns the error of a reference, with its reason.
func refuse(ref string, errno syscall.Errno, format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", ref, fmt.Sprintf(format, args...), errno)
}
