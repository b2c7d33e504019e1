package history

import (
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/snapshot"
	"vfsdb/undo"
)

func undoCommand(a *cli.App) *cobra.Command {
	u := &undoer{App: a}
	var since string
	cmd := &cobra.Command{
		Use:   "undo",
		Short: "Take back what a call changed, and leave what came later",
		Long: `Take back what calls of tools and commands changed on the branch, in one commit. What others changed meanwhile,
and what came later, stays; texts are merged by line. Without a flag it is the last call that changed something and
is not taken back yet. The numbers of calls are those of log. Each vfsctl command is a call.

An undo does not fail for conflicts. What later changes touched too stays as it is, and the exit code is 14:
conflicts lists such files, cat --side shows the other states, and resolve decides. An undo is itself a call:
redo takes it back.

A gc takes what calls need to be taken back, unless snapshots keep the states before and after. Then the exit code
is 14 too, and nothing is changed. To go back to a snapshot with all that came later, restore it.

Changes have the letters of diff, and conflicts the letter C.`,
		Example: `  vfsctl undo
  vfsctl undo --call 1042 --dry-run
  vfsctl undo --session attempt-2
  vfsctl undo --since '1 hour ago'`,
		Args: cli.Args(0, 0),
		RunE: a.On(cli.Writes, func(c *cli.Call) (err error) {
			u.Call = c
			if err := cli.Exclusive(c.Cmd, "call", "session", "actor", "since"); err != nil {
				return err
			}
			if err := u.check(); err != nil {
				return err
			}
			if since != "" {
				if u.o.Since, err = snapshot.ParseTime(since, time.Now()); err != nil {
					return cli.Usage(c.Cmd, "--since: %v", err)
				}
			}
			return u.print(undo.Undo(c, c.FS, &u.o))
		}),
	}

	f := cmd.Flags()
	f.Int64Var(&u.o.Call, "call", 0, "the call with the number `N`")
	f.StringVar(&u.o.Session, "session", "", "all calls of `SESSION`")
	f.StringVar(&u.o.Actor, "actor", "", "all calls of `ACTOR`")
	f.StringVar(&since, "since", "", "all calls that began at `TIME` or later")
	f.BoolVar(&u.o.DryRun, "dry-run", false, "print the result, and change nothing")
	_ = cmd.RegisterFlagCompletionFunc("call", a.CompleteCalls)
	_ = cmd.RegisterFlagCompletionFunc("session", a.CompleteSessions)
	_ = cmd.RegisterFlagCompletionFunc("actor", a.CompleteActors)
	_ = cmd.RegisterFlagCompletionFunc("since", cli.CompleteNothing)
	return cmd
}

func redoCommand(a *cli.App) *cobra.Command {
	u := &undoer{App: a}
	cmd := &cobra.Command{
		Use:   "redo",
		Short: "Take back the last undo",
		Long: `Take back the last undo on the branch that is not taken back yet: what it took back is done again. What came
later stays, as with undo, and conflicts are as there.`,
		Example: `  vfsctl undo
  vfsctl redo`,
		Args: cli.Args(0, 0),
		RunE: a.On(cli.Writes, func(c *cli.Call) error {
			u.Call = c
			return u.print(undo.Redo(c, c.FS, &undo.RedoOptions{DryRun: u.o.DryRun}))
		}),
	}
	cmd.Flags().BoolVar(&u.o.DryRun, "dry-run", false, "print the result, and change nothing")
	return cmd
}

// An undoer is one run of undo or redo.
type undoer struct {
	*cli.App
	*cli.Call
	o undo.Options
}

// check refuses flags that select nothing.
func (u *undoer) check() error {
	for name, empty := range map[string]bool{"call": u.o.Call <= 0, "session": u.o.Session == "", "actor": u.o.Actor == ""} {
		if empty && u.Cmd.Flags().Changed(name) {
			return cli.Usage(u.Cmd, "--%s selects no call", name)
		}
	}
	return nil
}

// An undoJSON is the result of an undo or a redo as JSON shows it.
type undoJSON struct {
	Calls     []undoneJSON   `json:"calls"`
	By        int64          `json:"by,omitempty"`
	DryRun    bool           `json:"dry_run,omitempty"`
	Changes   []changeJSON   `json:"changes"`
	Conflicts []conflictJSON `json:"conflicts"`
}

// An undoneJSON is a call that was taken back.
type undoneJSON struct {
	ID      int64     `json:"id"`
	At      time.Time `json:"at"`
	Actor   string    `json:"actor"`
	Session string    `json:"session"`
	Tool    string    `json:"tool"`
}

// print prints a result. Conflicts are the exit code.
func (u *undoer) print(r *undo.Result, err error) error {
	if err != nil {
		return err
	}
	if u.JSON {
		err = u.Out.JSON(u.json(r))
	} else {
		err = u.list(r)
	}
	if err == nil && len(r.Changes)+len(r.Conflicts) == 0 {
		err = u.explainNone(r)
	}
	if err == nil && len(r.Conflicts) > 0 {
		err = cli.ExitConflict
	}
	return err
}

// explainNone warns after an undo or a redo that changed nothing, if a purge has removed the files of its calls.
func (u *undoer) explainNone(r *undo.Result) error {
	for _, c := range r.Calls {
		gone, err := purgedOf(u.Call, c.ID)
		if err != nil {
			return err
		}
		if gone != "" {
			u.Warn("%s: no file is changed: a purge has removed %s, and nothing brings it back", u.Cmd.Name(), gone)
			return nil
		}
	}
	return nil
}

func (u *undoer) json(r *undo.Result) undoJSON {
	out := undoJSON{By: r.By, DryRun: u.o.DryRun, Changes: changesJSON(r.Changes), Conflicts: conflictsJSON(r.Conflicts)}
	for _, c := range r.Calls {
		out.Calls = append(out.Calls, undoneJSON{c.ID, c.At.UTC(), c.Actor, c.Session, c.Tool})
	}
	return out
}

func (u *undoer) list(r *undo.Result) error {
	if err := printChanges(u.Out, r.Changes, r.Conflicts); err != nil {
		return err
	}
	if u.o.DryRun {
		return u.Out.Printf("nothing was changed: %s\n", countChanges(r.Changes, r.Conflicts))
	}
	for _, c := range r.Calls {
		by := by(c.Actor, c.Session, c.Tool)
		if err := u.Out.Printf("call %d of %s is taken back: %s\n", c.ID, human.Second(c.At), u.Out.Name(by)); err != nil {
			return err
		}
	}
	return nil
}
