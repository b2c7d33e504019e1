package history

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/snapshot"
)

func blameCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "blame [REF:]PATH",
		Short: "Show which call last touched each line of a file",
		Long: `Show for each line of a text file the time and the call of a tool or command that last changed it.
blame derives this from the log and from the contents that it refers to. Lines from before the oldest content
that is still stored have no call. Content that only the log refers to is stored until gc.
REF: is the tree that has the file, see help refs.`,
		Example: `  vfsctl blame main.go
  vfsctl blame 'main@{1 day ago}:main.go'
  vfsctl --branch attempt-2 blame docs/plan.md --json`,
		Args:              cli.Args(1, 1),
		ValidArgsFunction: cli.CompleteArgs(a.CompletePaths, cli.CompleteNothing),
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			c, name, err := c.Of(c.Args[0])
			if err != nil {
				return err
			}
			return blame(a, c, name)
		}),
	}
}

func blame(a *cli.App, c *cli.Call, name string) error {
	lines, err := snapshot.Blame(c, c.FS, name)
	if err != nil {
		return err
	}
	if a.JSON {
		return blameJSON(a, lines)
	}
	return blameText(a, lines)
}

func blameJSON(a *cli.App, lines []snapshot.Line) error {
	for i, l := range lines {
		line := struct {
			Line  int        `json:"line"`
			Text  string     `json:"text"`
			Bytes string     `json:"text_base64,omitempty"`
			Event *eventJSON `json:"event,omitempty"`
		}{Line: i + 1, Text: l.Text, Bytes: human.Base64(l.Text)}
		if l.Event != nil {
			e := newEventJSON(l.Event)
			line.Event = &e
		}
		if err := a.Out.JSON(line); err != nil {
			return err
		}
	}
	return nil
}

// blameText prints the call and its time before each line, in columns as wide as their widest text.
func blameText(a *cli.App, lines []snapshot.Line) error {
	calls := make([]string, len(lines))
	widest := 0
	for i, l := range lines {
		if l.Event != nil {
			calls[i] = runewidth.Truncate(by(l.Event.Actor, l.Event.Session, l.Event.Tool), maxBlame, "...")
		}
		widest = max(widest, runewidth.StringWidth(calls[i]))
	}

	digits := len(strconv.Itoa(len(lines)))
	for i, l := range lines {
		seq, when := "", strings.Repeat(" ", len("2006-01-02 15:04"))
		if l.Event != nil {
			seq, when = strconv.FormatInt(l.Event.Seq, 10), human.Moment(l.Event.At)
		}
		err := a.Out.Printf("%s  %s  %s  %s %s\n", a.Out.Paint(term.Yellow, fmt.Sprintf("%6s", seq)), when,
			a.Out.Paint(term.Dim, runewidth.FillRight(calls[i], widest)), a.Out.Paint(term.Dim, fmt.Sprintf("%*d", digits, i+1)), a.Out.Name(l.Text))
		if err != nil {
			return err
		}
	}
	return nil
}

// maxBlame bounds the column of calls.
const maxBlame = 40
