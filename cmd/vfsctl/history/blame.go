package history

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

func blameCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "blame [REF:]PATH",
		Short: "Show which call last touched each line of a file",
		Long: `Show for each line of a text file the call that last changed it: its number, as log
has it, the time, the command line or the tool, and the actor. A line that no call has
changed has the time alone. blame derives this from the log and from the contents that
it refers to. Lines from before the oldest content that is still stored have no call.
Content that only the log refers to is stored until gc.
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
	commands, err := commandsOf(c, lines)
	if err != nil {
		return err
	}
	if a.JSON {
		return blameJSON(a, lines, commands)
	}
	return paged(a, func() error { return blameText(a, lines, commands) })
}

// commandsOf returns the command lines of the calls that lines come from, by number.
func commandsOf(c *cli.Call, lines []snapshot.Line) (map[int64]string, error) {
	commands := make(map[int64]string)
	for _, l := range lines {
		if l.Event == nil || l.Event.Call == 0 {
			continue
		}
		id := l.Event.Call
		if _, known := commands[id]; known {
			continue
		}
		commands[id] = ""
		call, err := callOf(c, id)
		if err != nil {
			return nil, err
		}
		if call != nil {
			commands[id] = call.Command
		}
	}
	return commands, nil
}

func blameJSON(a *cli.App, lines []snapshot.Line, commands map[int64]string) error {
	for i, l := range lines {
		line := struct {
			Line    int        `json:"line"`
			Text    string     `json:"text"`
			Bytes   string     `json:"text_base64,omitempty"`
			Event   *eventJSON `json:"event,omitempty"`
			Command string     `json:"command,omitempty"` // of the call
		}{Line: i + 1, Text: l.Text, Bytes: human.Base64(l.Text)}
		if l.Event != nil {
			e := newEventJSON(l.Event)
			line.Event, line.Command = &e, commands[e.Call]
		}
		if err := a.Out.JSON(line); err != nil {
			return err
		}
	}
	return nil
}

// blameText prints the call and its time before each line, in columns as wide as their widest text.
func blameText(a *cli.App, lines []snapshot.Line, commands map[int64]string) error {
	calls := make([]string, len(lines))
	widest := 0
	for i, l := range lines {
		if l.Event != nil {
			calls[i] = source(a.Out, l.Event, commands[l.Event.Call])
		}
		widest = max(widest, runewidth.StringWidth(calls[i]))
	}

	digits := len(strconv.Itoa(len(lines)))
	for i, l := range lines {
		id, when := "", strings.Repeat(" ", len("2006-01-02 15:04"))
		if l.Event != nil {
			when = human.Moment(l.Event.At)
			if id = "-"; l.Event.Call != 0 {
				id = strconv.FormatInt(l.Event.Call, 10)
			}
		}
		err := a.Out.Printf("%s  %s  %s  %s %s\n", a.Out.Paint(term.Yellow, fmt.Sprintf("%6s", id)), when,
			a.Out.Paint(term.Dim, runewidth.FillRight(calls[i], widest)), a.Out.Paint(term.Dim, fmt.Sprintf("%*d", digits, i+1)), term.Shown(l.Text))
		if err != nil {
			return err
		}
	}
	return nil
}

// maxBlame bounds the column of calls.
const maxBlame = 40

// source returns the command line of an event's call, or else its tool, and then the actor. Where both do not fit, the command
// line is cut.
func source(o *term.Output, e *vfs.Event, command string) string {
	who := o.Name(by(e.Actor, e.Session, ""))
	what := o.Name(cmp.Or(command, e.Tool))
	what = runewidth.Truncate(what, max(maxBlame/2, maxBlame-1-runewidth.StringWidth(who)), "...")
	return runewidth.Truncate(strings.TrimSpace(what+" "+who), maxBlame, "...")
}
