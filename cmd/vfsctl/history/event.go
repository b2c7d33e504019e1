package history

import (
	"fmt"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/vfs"
)

// An eventJSON is an event as JSON shows it: its path and its time are as in all other output.
type eventJSON struct {
	*vfs.Event
	Path   string    `json:"path"`
	Base64 string    `json:"path_base64,omitempty"`
	Arg64  string    `json:"arg_base64,omitempty"`
	At     time.Time `json:"at"`
}

func newEventJSON(e *vfs.Event) eventJSON {
	return eventJSON{e, cli.Rooted(e.Path), human.Base64(e.Path), human.Base64(e.Arg), e.At.UTC()}
}

// printEvent prints one event.
func printEvent(a *cli.App, e *vfs.Event) error {
	if a.JSON {
		return a.Out.JSON(newEventJSON(e))
	}
	line := numbered(a.Out, e.Seq, fmt.Sprintf("%s  %-9s %s", human.Second(e.At), e.Op, eventName(a.Out, e)))
	line.add(a.Out.Name(by(e.Actor, e.Session, e.Tool)), term.Dim)
	return line.print()
}

// eventName returns the paths of an event.
func eventName(o *term.Output, e *vfs.Event) string {
	name := o.Name(cli.Rooted(e.Path))
	switch {
	case e.Op == vfs.OpRename || e.Op == vfs.OpCopy || e.Op == vfs.OpLink:
		return o.Name(cli.Rooted(e.Arg)) + " -> " + name
	case e.Op == vfs.OpSymlink:
		return name + " -> " + o.Name(e.Arg)
	case e.Op == vfs.OpBranch:
		return o.Name(strings.Replace(e.Arg, " ", " from ", 1))
	case e.Op == purged && e.Arg != "":
		return name + ": " + o.Name(e.Arg)
	case e.Path == "." && e.Arg != "":
		return o.Name(e.Arg)
	}
	return name
}

// A logLine is a line of a log. On a terminal its end is cut, so that it fits.
type logLine struct {
	o    *term.Output
	text string
	used int // columns
}

// numbered begins a line with a number, and a text that is never cut.
func numbered(o *term.Output, n int64, text string) *logLine {
	number := fmt.Sprintf("%6d", n)
	return &logLine{o, o.Paint(term.Yellow, number) + "  " + text, len(number) + 2 + runewidth.StringWidth(text)}
}

// add adds a text as far as there is room.
func (l *logLine) add(text string, style term.Style) {
	const gap = "  "
	if text = l.o.Fit(text, l.used+len(gap)); text != "" {
		l.text += gap + l.o.Paint(style, text)
		l.used += len(gap) + runewidth.StringWidth(text)
	}
}

func (l *logLine) print() error { return l.o.Line(l.text) }

// by returns the origin of a change as session/tool (actor), without the parts that are unknown.
func by(actor, session, tool string) string {
	text := tool
	if session != "" {
		text = strings.TrimSuffix(session+"/"+tool, "/")
	}
	if actor != "" {
		text = strings.TrimSpace(text + " (" + actor + ")")
	}
	return text
}
