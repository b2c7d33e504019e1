package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"vfsdb/snapshot"
)

func blameCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "blame PATH",
		Short: "Show which call last touched each line of a file",
		Long: `Show for each line of a text file when it came to be as it is, and in the course of which call of
a tool or command. That is worked out from the log and from the contents that it names; lines from before
the oldest content that is still stored have no call. Content that only the log knows of is stored until gc.`,
		Example: `  vfsctl blame main.go
  vfsctl --branch attempt-2 blame docs/plan.md --json`,
		Args:              args(1, 1),
		ValidArgsFunction: completeArgs(a.completePaths, completeNothing),
		RunE: a.on(reads, func(c *call) error {
			lines, err := snapshot.Blame(c, c.fsys, c.args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.blameJSON(lines)
			}
			return a.blameText(lines)
		}),
	}
}

func (a *app) blameJSON(lines []snapshot.Line) error {
	for i, l := range lines {
		line := struct {
			Line  int        `json:"line"`
			Text  string     `json:"text"`
			Bytes string     `json:"text_base64,omitempty"`
			Event *eventJSON `json:"event,omitempty"`
		}{Line: i + 1, Text: l.Text, Bytes: base64Name(l.Text)}
		if l.Event != nil {
			e := newEventJSON(l.Event)
			line.Event = &e
		}
		if err := a.out.json(line); err != nil {
			return err
		}
	}
	return nil
}

// blameText prints who and when before each line, in columns as wide as they have to be.
func (a *app) blameText(lines []snapshot.Line) error {
	who := make([]string, len(lines))
	widest := 0
	for i, l := range lines {
		if l.Event != nil {
			who[i] = runewidth.Truncate(by(l.Event.Actor, l.Event.Session, l.Event.Tool), maxBlame, "...")
		}
		widest = max(widest, runewidth.StringWidth(who[i]))
	}
	digits := len(strconv.Itoa(len(lines)))
	for i, l := range lines {
		seq, when := "", strings.Repeat(" ", len("2006-01-02 15:04"))
		if l.Event != nil {
			seq, when = strconv.FormatInt(l.Event.Seq, 10), moment(l.Event.At)
		}
		err := a.out.printf("%s  %s  %s  %s %s\n", a.out.paint(yellow, fmt.Sprintf("%6s", seq)), when,
			a.out.paint(dim, runewidth.FillRight(who[i], widest)), a.out.paint(dim, fmt.Sprintf("%*d", digits, i+1)), a.out.name(l.Text))
		if err != nil {
			return err
		}
	}
	return nil
}

// maxBlame is the widest column of who.
const maxBlame = 40
