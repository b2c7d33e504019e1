package history

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/snapshot"
)

// A deedJSON is a deed as JSON shows it.
type deedJSON struct {
	snapshot.Deed
	At     time.Time   `json:"at"`
	Events []eventJSON `json:"events,omitempty"`
}

func newDeedJSON(d *snapshot.Deed) deedJSON {
	out := deedJSON{Deed: *d, At: d.At.UTC()}
	for i := range d.Events {
		out.Events = append(out.Events, newEventJSON(&d.Events[i]))
	}
	return out
}

// DeedLine returns the line of a deed: the number of its call, the time of its begin, its name, its result, and its actor. The
// line begins behind some columns that are used already. On a terminal it is cut to the width; the result is cut last.
func DeedLine(o *term.Output, d *snapshot.Deed, used int) string {
	number := "     -"
	if d.ID != 0 {
		number = fmt.Sprintf("%6d", d.ID)
	}
	line := &logLine{o, o.Paint(term.Yellow, number) + "  " + human.Second(d.At), used + len(number) + 2 + len(time.DateTime)}

	// Leave room for the outcome.
	outcome, failure := deedOutcome(d), deedFailure(o, d)
	room := len("  ") + runewidth.StringWidth(outcome)
	if failure != "" {
		room += len("  ") + min(runewidth.StringWidth(failure), 16)
	}
	line.used += room
	line.add(deedName(o, d), term.Plain)
	line.used -= room

	line.add(outcome, term.Plain)
	line.add(failure, term.Red)
	line.add(o.Name(by(d.Actor, d.Session, "")), term.Dim)
	return line.text
}

// deedName returns the command line of a deed, or else its tool with the path that it changed first.
func deedName(o *term.Output, d *snapshot.Deed) string {
	name := d.Tool
	switch {
	case d.Command == d.Tool:
	case strings.HasPrefix(d.Command, d.Tool+" "), d.Tool == "":
		name = d.Command
	case d.Command != "":
		name += ": " + d.Command
	}
	name = o.Name(name)

	if d.Command == "" && len(d.Events) > 0 {
		e := &d.Events[0]
		if d.Tool == "" {
			name = string(e.Op)
		}
		name += " " + eventName(o, e)
		if d.Changes > 1 {
			name += ", ..."
		}
	}
	if len(d.Undid) > 0 {
		name += ", takes back " + callList(d.Undid)
	}
	return name
}

// callList lists calls, the first few of them.
func callList(ids []int64) string {
	const most = 4
	words := make([]string, 0, most+1)
	for i, id := range ids {
		if i == most {
			words = append(words, fmt.Sprintf("and %s more", human.Comma(int64(len(ids)-most))))
			break
		}
		words = append(words, strconv.FormatInt(id, 10))
	}
	return strings.Join(words, " ")
}

// deedOutcome returns the result of a deed: the count of its changes, the growth of the tree in bytes, and the duration.
func deedOutcome(d *snapshot.Deed) string {
	text := human.Plural(d.Changes, "change", "changes")
	switch {
	case d.Grew > 0:
		text += ", +" + human.Size(d.Grew)
	case d.Grew < 0:
		text += ", " + human.Size(d.Grew)
	}
	if d.Took > 0 {
		text += ", " + human.Took(d.Took)
	}
	return text
}

// deedFailure returns the error or the exit code of a deed; "" if it did not fail.
func deedFailure(o *term.Output, d *snapshot.Deed) string {
	switch {
	case d.Error != "":
		return "failed: " + o.Name(strings.Join(strings.Fields(d.Error), " "))
	case d.Exit != nil && *d.Exit != 0:
		return fmt.Sprintf("exit %d", *d.Exit)
	}
	return ""
}

// printEvents prints some of the changes of a deed below its line; of is how many were asked for, and all reports that no change
// of the deed was left out for another reason.
func printEvents(a *cli.App, d *snapshot.Deed, of int, all bool) error {
	const indent = "        "
	for i := range d.Events {
		e := &d.Events[i]
		if of >= 0 && i == of {
			more := "more"
			if all {
				more = human.Comma(d.Changes-int64(of)) + " more"
			}
			return a.Out.Line(indent + a.Out.Paint(term.Dim, "... and "+more))
		}
		op := fmt.Sprintf("%-9s ", e.Op)
		if err := a.Out.Line(indent + op + eventName(a.Out, e)); err != nil {
			return err
		}
	}
	return nil
}
