package history

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/patch"
	"vfsdb/vfs"
)

func logCommand(a *cli.App) *cobra.Command {
	l := &logPrinter{patcher: patcher{App: a}}
	cmd := &cobra.Command{
		Use:   "log [PATH]",
		Short: "Show what changed, when, and by which call",
		Long: `Show the changes of the branch, newest first: the path, the kind of change, the time, and the call
of a tool or command that made it. With PATH, show only changes at PATH or below it, also under earlier names.
The history of a branch goes back beyond its fork.

With --calls, show the calls themselves, on all branches, also those that only read and those that failed; of a
program that ran in a branch, its command line, and its exit code if that is not 0. The
log gets each change in the commit that makes it. By default gc keeps the newest million.

With -p, show each call that changed the branch, and what it changed as a patch, as show does; -n then counts calls.
The flags of the patch are those of diff.

With --json, an event has the number of the inode that changed, ino, and of the directory whose entry did, dir.`,
		Example: `  vfsctl log
  vfsctl log docs/plan.md
  vfsctl log --session attempt-2 -n 20
  vfsctl log -p -n 1 docs
  vfsctl log --calls --json`,
		Args:              cli.Args(0, 1),
		ValidArgsFunction: cli.CompleteArgs(a.CompletePaths, cli.CompleteNothing),
		RunE: func(cmd *cobra.Command, args []string) error {
			on := a.On
			if l.calls {
				on = a.OnStore
			}
			return on(cli.Reads, func(c *cli.Call) error {
				l.Call = c
				if err := l.check(c.Cmd); err != nil {
					return err
				}
				if l.patches() {
					return l.paged(l.run)
				}
				return l.run()
			})(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&l.session, "session", "", "only those of `SESSION`")
	f.IntVarP(&l.max, "max", "n", 0, "stop after `N`; 0 is never")
	f.Int64Var(&l.since, "since", 0, "only those after number `SEQ`")
	f.BoolVar(&l.oldest, "oldest-first", false, "the oldest first")
	_ = cmd.RegisterFlagCompletionFunc("session", a.CompleteSessions)
	f.BoolVar(&l.calls, "calls", false, "show calls of tools and commands instead of changes")
	f.BoolVarP(&l.patch, "patch", "p", false, "show each call with its changes as a patch")
	l.flags(cmd)
	a.Print0(cmd)
	return cmd
}

// A logPrinter is one run of log.
type logPrinter struct {
	patcher
	*cli.Call
	patch         bool
	session       string
	max           int
	since         int64
	oldest, calls bool
}

func (l *logPrinter) run() error {
	switch {
	case l.max < 0 || l.since < 0:
		return cli.Usage(l.Cmd, "--max and --since cannot be below 0")
	case l.calls && (len(l.Args) > 0 || l.Cmd.Flags().Changed("branch") || l.At != ""):
		return cli.Usage(l.Cmd, "--calls shows those of the whole database: it takes no path, and neither --branch nor --at")
	case l.calls && l.patches():
		return cli.Usage(l.Cmd, "--calls lists calls, and -p shows their changes: they exclude each other")
	case l.calls:
		return l.showCalls()
	case l.patches():
		return l.showPatches()
	}

	events, err := l.FS.Log(l, &vfs.LogOptions{
		Path: l.Arg(0, ""), Session: l.session, Since: l.since, Max: l.max, Newest: !l.oldest,
	})
	if err != nil {
		return err
	}
	for i := range events {
		if err := printEvent(l.App, &events[i]); err != nil {
			return err
		}
	}
	return nil
}

// patches reports whether the changes of each call are asked for.
func (l *logPrinter) patches() bool { return l.patch || l.stat || l.asked(l.Cmd) }

// showPatches prints each call that changed the branch, with its changes: those at the path, under the name that it had then.
func (l *logPrinter) showPatches() error {
	name := l.Arg(0, "")
	events, err := l.FS.Log(l, &vfs.LogOptions{Path: name, Session: l.session, Since: l.since, Newest: !l.oldest})
	if err != nil {
		return err
	}
	var calls []int64
	seen := make(map[int64]bool)
	for _, e := range events {
		if e.Call != 0 && (e.Ino != 0 || e.Dir != 0) && !seen[e.Call] {
			calls, seen[e.Call] = append(calls, e.Call), true
		}
	}

	if l.max > 0 && l.max < len(calls) {
		calls = calls[:l.max]
	}
	names := make(map[int64][]string)
	if name != "" {
		all, err := l.FS.Log(l, &vfs.LogOptions{Path: name, Since: l.since}) // others may have renamed it
		if err != nil {
			return err
		}
		names = namesIn(all, name)
	}

	for _, id := range calls {
		l.o.Paths = names[id]
		if err := l.showPatch(id); err != nil {
			return err
		}
	}
	return nil
}

// namesIn returns the names that a path had in the calls of some events, which are in order. Renames lead back from one to the next,
// those of a directory above it too.
func namesIn(events []vfs.Event, name string) map[int64][]string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	names := make(map[int64][]string)
	for _, e := range slices.Backward(events) {
		names[e.Call] = append(names[e.Call], name)
		if e.Op == vfs.OpRename && patch.Below([]string{e.Path})(name) {
			name = e.Arg + name[len(e.Path):]
			names[e.Call] = append(names[e.Call], name)
		}
	}
	return names
}

// showPatch prints one call with its changes. A collection may have taken these.
func (l *logPrinter) showPatch(id int64) error {
	calls, err := l.FS.Store().Calls(l, &vfs.CallOptions{Since: id - 1, Max: 1})
	if err != nil || len(calls) == 0 {
		return err
	}
	if err := l.callHeader(&calls[0]); err != nil {
		return err
	}
	_, err = l.print(patch.Call(l, l.FS, id, l.options()))
	if errors.Is(err, syscall.ESTALE) && !l.JSON {
		err = l.Out.Printf("# a collection has taken what this call changed\n")
	} else if errors.Is(err, syscall.ESTALE) {
		err = nil
	}
	if err != nil || l.JSON {
		return err
	}
	return l.Out.Printf("\n")
}

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
	what := a.Out.Name(cli.Rooted(e.Path))
	switch {
	case e.Op == vfs.OpRename || e.Op == vfs.OpCopy || e.Op == vfs.OpLink:
		what = a.Out.Name(cli.Rooted(e.Arg)) + " -> " + what
	case e.Op == vfs.OpSymlink:
		what += " -> " + a.Out.Name(e.Arg)
	case e.Op == vfs.OpBranch:
		what = a.Out.Name(strings.Replace(e.Arg, " ", " from ", 1))
	case e.Path == "." && e.Arg != "":
		what = a.Out.Name(e.Arg)
	}

	line := numbered(a.Out, e.Seq, fmt.Sprintf("%s  %-9s %s", human.Second(e.At), e.Op, what))
	line.add(a.Out.Name(by(e.Actor, e.Session, e.Tool)), term.Dim)
	return line.print()
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

// by names the source of a change as session/tool (actor), without the parts that are unknown.
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

// showCalls prints calls in the order of their beginnings.
func (l *logPrinter) showCalls() error {
	calls, err := l.FS.Store().Calls(l, &vfs.CallOptions{Session: l.session, Since: l.since, Max: l.max, Newest: !l.oldest})
	if err != nil {
		return err
	}

	// A call that changes something is recorded with its first change, and any other after its end. Sorting by the
	// beginnings restores the order in which they were made.
	slices.SortStableFunc(calls, func(x, y vfs.CallRecord) int {
		if l.oldest {
			return x.At.Compare(y.At)
		}
		return y.At.Compare(x.At)
	})

	for _, c := range calls {
		if l.JSON {
			c.At = c.At.UTC()
			if err := l.Out.JSON(c); err != nil {
				return err
			}
			continue
		}

		if err := printCall(l.Out, c); err != nil {
			return err
		}
	}
	return nil
}

// printCall prints one call: the time, the source, what it did, and how it ended.
func printCall(o *term.Output, c vfs.CallRecord) error {
	what := human.Plural(c.Changes, "change", "changes")
	if c.Took > 0 { // a call of a tool; a command of a shell records neither
		what += ", " + human.Size(c.Result) + ", " + human.Took(c.Took)
	}

	line := numbered(o, c.ID, fmt.Sprintf("%s  %s  %s", human.Second(c.At), o.Name(by(c.Actor, c.Session, c.Tool)), what))
	if c.Exit != nil && *c.Exit != 0 {
		line.add(fmt.Sprintf("exit %d", *c.Exit), term.Red)
	}
	if c.Error != "" {
		line.add("failed: "+o.Name(strings.Join(strings.Fields(c.Error), " ")), term.Red)
	}
	if c.Command != "" {
		line.add(o.Name(c.Command), term.Plain)
	}
	return line.print()
}
