package history

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/patch"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

func logCommand(a *cli.App) *cobra.Command {
	l := &logPrinter{patcher: patcher{App: a}}
	cmd := &cobra.Command{
		Use:   "log [PATH...]",
		Short: "Show what was done, when, by whom and with what outcome",
		Long: `Show what was done to the branch, newest first, a line for each call of a tool and each command: its number,
when it began, what it was, how many paths it changed, by how many bytes the tree grew, how long it took, and who did
it. Changes that are part of no call are a line for each commit, without a number. The history of a branch goes back
beyond its fork.

With PATHs, show only what changed something there or below, also under earlier names; a PATH that never was matches
nothing. The flags select further, and all must hold. A line counts all changes of its call. TIME is like
2026-11-22T10:00:00Z, "2026-11-22 10:00", "2 hours ago", today, or "yesterday 14:00".

With -v, show the changes of each call below its line, the first 20 of them or --rows of them. With -p, show each call
with what it changed as a patch, as show does; the flags of the patch are those of diff.

With --graph, show the calls of all branches, or of the one that --branch names, beside lines that lead from each to the
one before it: forks and merges of branches can be seen. Branches and snapshots are named at their last call, without the
automatic snapshots, and calls that are taken back. Changes that are part of no call are left out. With --json, an object
has its parents.

With --all, show the calls of all branches, also those that only read, and those that failed and changed nothing.

On a terminal the log is shown in the pager $PAGER, or less.

With --json, an object for each call has its id (0 of a commit without a call), when it began (at), branch, actor,
session, tool, command, exit, error, took in ns, the numbers first and last and the count of its changes, grew in
bytes, and what it undid. With -v it has its events: of each the op, the path, the sums before and after, the inode that
changed, ino, and the directory whose entry did, dir.`,
		Example: `  vfsctl log
  vfsctl log docs/plan.md -n 5
  vfsctl log --session attempt-2 --since '1 hour ago' -v
  vfsctl log -p -n 1 docs
  vfsctl log --graph -n 20
  vfsctl log -v --json | jq '.events[]'`,
		Args:              cli.Args(0, -1),
		ValidArgsFunction: a.CompletePaths,
		RunE: func(cmd *cobra.Command, args []string) error {
			on := a.On
			if l.ofStore(cmd.Flags().Changed("branch")) {
				on = a.OnStore
			}
			return on(cli.Reads, func(c *cli.Call) error {
				l.Call = c
				if err := l.validate(); err != nil {
					return err
				}
				return paged(a, l.run)
			})(cmd, args)
		},
	}

	f := cmd.Flags()
	f.StringVar(&l.since, "since", "", "only what changed something at `TIME` or later, or after the change SEQ")
	f.StringVar(&l.until, "until", "", "only what changed something at `TIME` or before")
	f.StringVar(&l.deeds.Session, "session", "", "only the calls of `SESSION`")
	f.StringVar(&l.deeds.Actor, "actor", "", "only the calls of `ACTOR`")
	f.StringVar(&l.deeds.Tool, "tool", "", "only the calls of `TOOL`, such as 'vfsctl put'")
	f.StringVar(&l.op, "op", "", "only what made a change of the kind `OP`, such as rename")
	f.IntVarP(&l.max, "max", "n", 0, "stop after `N`; 0 is never")
	f.BoolVar(&l.deeds.Oldest, "reverse", false, "the oldest first")
	f.BoolVarP(&l.verbose, "verbose", "v", false, "show the changes of each call")
	f.IntVar(&l.rows, "rows", 20, "with -v, show `N` changes of each call; 0 is all")
	f.BoolVarP(&l.patch, "patch", "p", false, "show each call with its changes as a patch")
	f.BoolVar(&l.graph, "graph", false, "draw the branches, with their forks and merges")
	f.BoolVar(&l.all, "all", false, "show the calls of all branches, also those that changed nothing")
	_ = cmd.RegisterFlagCompletionFunc("session", a.CompleteSessions)
	_ = cmd.RegisterFlagCompletionFunc("actor", a.CompleteActors)
	_ = cmd.RegisterFlagCompletionFunc("tool", a.CompleteTools)
	_ = cmd.RegisterFlagCompletionFunc("op", completeOps)
	_ = cmd.RegisterFlagCompletionFunc("since", cli.CompleteNothing)
	_ = cmd.RegisterFlagCompletionFunc("until", cli.CompleteNothing)
	l.flags(cmd)
	a.Print0(cmd)
	return cmd
}

// ops are the kinds of changes, as the log has them.
var ops = []vfs.Op{
	vfs.OpCreate, vfs.OpWrite, vfs.OpAppend, vfs.OpTruncate, vfs.OpEdit, vfs.OpMkdir, vfs.OpMknod, vfs.OpSymlink, vfs.OpLink, vfs.OpRename,
	vfs.OpCopy, vfs.OpRemove, vfs.OpRemoveAll, vfs.OpChmod, vfs.OpChown, vfs.OpChtimes, vfs.OpXattr, vfs.OpSetattr, vfs.OpRestore, vfs.OpMerge,
	vfs.OpSnapshot, vfs.OpSnapshotDelete, vfs.OpBranch, vfs.OpBranchDelete, vfs.OpBranchRename, purged,
}

func completeOps(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	list := make([]cobra.Completion, len(ops))
	for i, op := range ops {
		list[i] = string(op)
	}
	return list, cli.NoFiles
}

// A logPrinter is one run of log.
type logPrinter struct {
	patcher
	*cli.Call
	deeds               snapshot.DeedOptions
	since, until, op    string
	max, rows           int
	verbose, patch, all bool
	graph               bool
}

// validate refuses flags that make no sense, and reads the others.
func (l *logPrinter) validate() error {
	if err := l.check(l.Cmd); err != nil {
		return err
	}
	changed := l.Cmd.Flags().Changed
	for _, name := range []string{"session", "actor", "tool", "op", "since", "until"} {
		if changed(name) && l.Cmd.Flags().Lookup(name).Value.String() == "" {
			return cli.Usage(l.Cmd, "--%s is empty", name)
		}
	}
	switch {
	case l.max < 0 || l.rows < 0:
		return cli.Usage(l.Cmd, "--max and --rows cannot be below 0")
	case changed("rows") && !l.verbose:
		return cli.Usage(l.Cmd, "--rows needs -v: it bounds what that shows")
	case l.verbose && l.patches():
		return cli.Usage(l.Cmd, "-v lists changes, and -p shows them as a patch: they exclude each other")
	case l.all && (len(l.Args) > 0 || changed("branch") || l.At != ""):
		return cli.Usage(l.Cmd, "--all shows the calls of the whole database: it takes no path, and neither --branch nor --at")
	case l.all && (l.verbose || l.op != "" || l.patches()):
		return cli.Usage(l.Cmd, "--all lists calls without their changes: it excludes -v, -p and --op")
	case l.op != "" && !slices.Contains(ops, vfs.Op(l.op)):
		return cli.Usage(l.Cmd, "--op: %q is no kind of change; write one of %s", l.op, opNames())
	}
	if l.graph {
		return l.checkGraph()
	}
	l.deeds.Op, l.deeds.Paths, l.deeds.Trees = vfs.Op(l.op), l.Args, l.patches()

	now, err := time.Now(), error(nil)
	if seq, bad := strconv.ParseInt(l.since, 10, 64); bad == nil && seq >= 0 && !l.all {
		l.deeds.Since = seq
	} else if l.since != "" {
		if l.deeds.From, err = snapshot.ParseTime(l.since, now); err != nil {
			return cli.BadFlag(l.Cmd, "since", err)
		}
	}
	if l.until != "" {
		if l.deeds.To, err = snapshot.ParseTime(l.until, now); err != nil {
			return cli.BadFlag(l.Cmd, "until", err)
		}
	}
	return nil
}

func opNames() string {
	names := make([]string, len(ops))
	for i, op := range ops {
		names[i] = string(op)
	}
	return strings.Join(names, ", ")
}

// patches reports whether the changes of each call are asked for as a patch.
func (l *logPrinter) patches() bool { return l.patch || l.stat || l.asked(l.Cmd) }

func (l *logPrinter) run() error {
	switch {
	case l.graph:
		return l.showGraph()
	case l.all:
		return l.showAll()
	case l.verbose && l.rows == 0, l.verbose && l.JSON && !l.Cmd.Flags().Changed("rows"):
		l.deeds.Events = -1
	case l.verbose && l.JSON:
		l.deeds.Events = l.rows
	case l.verbose:
		l.deeds.Events = l.rows + 1 // to know whether there are more
	case !l.JSON && !l.patches():
		l.deeds.Events = 1
	}

	shown := 0
	for d, err := range snapshot.Deeds(l, l.FS, &l.deeds) {
		if err != nil {
			return err
		}
		if err := l.show(&d); err != nil {
			return err
		}
		if shown++; shown == l.max {
			break
		}
	}
	if shown == 0 {
		l.explainNone()
	}
	return nil
}

// explainNone warns of PATHs that no call has changed, and that are the names of trees: the user may have meant these.
func (l *logPrinter) explainNone() {
	for _, arg := range l.Args {
		if advice := l.RefAdvice(arg); advice != "" && !has(l, l.FS, arg) {
			l.Warn("log %s: no call is of a path of that name; %s", arg, advice)
		}
	}
}

// show prints one deed.
func (l *logPrinter) show(d *snapshot.Deed) error {
	switch {
	case l.patches():
		return l.showPatch(d)
	case l.JSON:
		return l.Out.JSON(newDeedJSON(d))
	}
	if err := l.Out.Line(DeedLine(l.Out, d, 0)); err != nil || !l.verbose {
		return err
	}
	rows := l.rows
	if rows == 0 {
		rows = -1
	}
	return printEvents(l.App, d, rows, len(l.Args) == 0 && l.op == "")
}

// showPatch prints one call with its changes: with PATHs only those there. A gc or a purge may have taken these.
func (l *logPrinter) showPatch(d *snapshot.Deed) error {
	if len(l.Args) > 0 {
		l.o.Paths = d.Names
	}
	if err := l.callHeader(&d.CallRecord); err != nil {
		return err
	}

	n, err := l.print(patch.Call(l, l.FS, d.ID, l.options()))
	if errors.Is(err, syscall.ESTALE) && !l.JSON {
		n++
		err = l.Out.Printf("# a gc or a purge has taken what this call changed\n")
	} else if errors.Is(err, syscall.ESTALE) {
		err = nil
	}
	if err != nil || l.JSON || n == 0 {
		return err
	}
	return l.Out.Printf("\n")
}

// showAll prints the calls of all branches, in the order of their beginnings.
func (l *logPrinter) showAll() error {
	calls, err := l.FS.Store().Calls(l, &vfs.CallOptions{
		Session: l.deeds.Session, Actor: l.deeds.Actor, Tool: l.deeds.Tool,
		From: l.deeds.From, To: l.deeds.To, Max: l.max, Newest: !l.deeds.Oldest,
	})
	if err != nil {
		return err
	}

	// A call that changes something is recorded with its first change, and any other after its end. Sorting by the
	// beginnings restores the order in which they were made.
	slices.SortStableFunc(calls, func(x, y vfs.CallRecord) int {
		if l.deeds.Oldest {
			return x.At.Compare(y.At)
		}
		return y.At.Compare(x.At)
	})
	for _, c := range calls {
		if err := l.show(&snapshot.Deed{CallRecord: c}); err != nil {
			return err
		}
	}
	return nil
}
