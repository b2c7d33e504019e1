package git

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A header is what a commit has beside its tree and its parents.
type header struct {
	oid               string // its id in git; "" if that is not known
	number            int64  // in the stream
	author, committer string // "NAME <EMAIL> SECONDS ZONE"
	message           string
}

// The words before what a note keeps of a commit, behind the message.
const (
	noteCommit    = "Git-Commit: "
	noteAuthor    = "Git-Author: "
	noteCommitter = "Git-Committer: "
)

// note returns the note of the snapshot of a commit: the message, and the rest of the header.
func (h *header) note() string {
	message := strings.ReplaceAll(strings.ToValidUTF8(h.message, "\uFFFD"), "\x00", "\uFFFD")
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", message)
	if h.oid != "" {
		fmt.Fprintf(&b, "%s%s\n", noteCommit, h.oid)
	}
	fmt.Fprintf(&b, "%s%s\n%s%s\n", noteAuthor, h.author, noteCommitter, h.committer)
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// headerOf reads the note of a commit; ok is false for any other note.
func headerOf(note string) (h header, ok bool) {
	for _, field := range []struct {
		word string
		to   *string
	}{{noteCommitter, &h.committer}, {noteAuthor, &h.author}, {noteCommit, &h.oid}} {
		rest, whole := strings.CutSuffix(note, "\n")
		i := strings.LastIndexByte(rest, '\n')
		line, is := strings.CutPrefix(rest[i+1:], field.word)
		if whole && i >= 0 && is {
			*field.to, note = line, note[:i+1]
		} else if field.to != &h.oid {
			return header{}, false
		}
	}
	h.message, ok = strings.CutSuffix(note, "\n")
	if ok = ok && isIdent(h.author) && isIdent(h.committer) && (h.oid == "" || isOid(h.oid)); !ok {
		return header{}, false
	}
	return h, true
}

// isIdent reports whether a text is "NAME <EMAIL> SECONDS ZONE".
func isIdent(text string) bool {
	_, when := splitIdent(text)
	return !when.IsZero()
}

// splitIdent returns the person and the time of "NAME <EMAIL> SECONDS ZONE"; the time is zero if it is something else.
func splitIdent(text string) (person string, when time.Time) {
	open, end := strings.IndexByte(text, '<'), strings.IndexByte(text, '>')
	if open < 0 || end < open || open > 0 && text[open-1] != ' ' || strings.Contains(text[:open], ">") || strings.ContainsAny(text, "\n\x00") || strings.ContainsAny(text[open+1:end], "<") {
		return "", time.Time{}
	}
	date, apart := strings.CutPrefix(text[end+1:], " ")
	stamp, zone, _ := strings.Cut(date, " ")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if !apart || err != nil || seconds < 0 || seconds > maxSeconds || stamp[0] == '+' || !isZone(zone) {
		return "", time.Time{}
	}
	return text[:end+1], time.Unix(seconds, 0)
}

// isZone reports whether git fast-import takes a text for a time zone.
func isZone(zone string) bool {
	if zone == "" || zone[0] != '+' && zone[0] != '-' {
		return false
	}
	n, err := strconv.ParseUint(zone[1:], 10, 16)
	return err == nil && n <= 1400
}

// mended returns what a commit has as author or committer in the form that git fast-import takes. Old programs have left out
// spaces, and written time zones that there are not: these become +0000.
func mended(ident string) string {
	open, end := strings.IndexByte(ident, '<'), strings.IndexByte(ident, '>')
	if isIdent(ident) || open < 0 || end < open {
		return ident
	}
	date := strings.Fields(ident[end+1:])
	if len(date) != 2 {
		return ident
	}
	if !isZone(date[1]) {
		date[1] = "+0000"
	}
	name := strings.TrimSpace(ident[:open])
	if name != "" {
		name += " "
	}
	return name + ident[open:end+1] + " " + date[0] + " " + date[1]
}

// maxSeconds is the last time that the store can keep, in 2262.
const maxSeconds = 1<<63/1_000_000_000 - 1

// identOf writes an actor of the log and a time as git has them. An actor that is "NAME <EMAIL>" stays that.
func identOf(actor string, when time.Time) string {
	stamp := fmt.Sprintf(" %d +0000", max(0, when.Unix()))
	if isIdent(actor+stamp) && actor[0] != '<' {
		return actor + stamp
	}
	name := strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '<' || r == '>' || unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, actor))
	if name == "" {
		name = "unknown"
	}
	return name + " <>" + stamp
}
