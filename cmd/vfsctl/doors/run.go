package doors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/run"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A runFlags is one run of the command run, with its flags.
type runFlags struct {
	*cli.App
	o       run.Options
	made    string // --new
	from    string
	via     string
	network string
	result  string // the file that gets the result
	quiet   bool
}

func runCommand(a *cli.App) *cobra.Command {
	r := &runFlags{App: a}
	cmd := &cobra.Command{
		Use:   "run [flags] -- CMD [ARGS]",
		Short: "Run a program in a branch",
		Long: `Run CMD with the files of the branch as its working directory. When it has ended, its changes go into the
branch in one commit, and nobody sees them earlier. --new forks a branch first, and runs there. If the command
cannot be started, there is no new branch.

The exit code is that of the command: 128 and the number of a signal that ended it, 124 after --timeout, 127
if there is no such program, 126 if it cannot be executed. The changes go into the branch whatever the code is. If
others changed the branch meanwhile, both are merged. Files that both changed in different ways stay as the branch has
them, and the exit code is 14: conflicts lists them. If the branch was deleted, the result is a new branch, whose name
is printed, and the exit code is 14 too. A run that is killed before the merge leaves the result as a branch, whose name
begins with run-.

There are three ways to show the files. overlay mounts them, on Linux, and is as fast as the host. copy exports
them into a directory below the cache of the user, and works everywhere. Without --via, run takes the first of these
two that works here; doctor shows which do. live mounts the branch itself: changes are committed within 20 ms,
and others see them then. run takes it only with --via live, and waits for programs that the command has left in it,
until an interrupt.

Inside, VFS_DB and VFS_BRANCH name the database and the branch. So a vfsctl in the command works on the database.
What it changes in the branch is merged with the result of a run by overlay or copy.`,
		Example: `  vfsctl run -- go vet ./...
  vfsctl run --new try -- go test ./... && vfsctl diff main try
  vfsctl run --timeout 5m --network none --confine -- npm test
  vfsctl run --confine --allow-write ~/.cache/go-build -- go test ./...`,
		Args:              needsCommand,
		ValidArgsFunction: cli.CompleteNothing,
		RunE:              a.On(cli.Writes, r.run),
	}

	flags := cmd.Flags()
	flags.SetInterspersed(false)
	flags.StringVar(&r.made, "new", "", "fork the branch `NAME` first, and run there")
	flags.StringVar(&r.from, "from", "", "the `SNAPSHOT` or branch that --new forks")
	flags.StringVar(&r.via, "via", "", "take this `WAY`: overlay, live or copy")
	flags.BoolVar(&r.o.ReadOnly, "read-only", false, "drop the changes of the command")
	flags.BoolVar(&r.o.Keep, "keep", false, "leave the directory of the run on the host")
	flags.DurationVar(&r.o.Timeout, "timeout", 0, "end the command after this `TIME`, such as 90s or 5m")
	flags.StringArrayVar(&r.o.Env, "env", nil, "set a variable, as `K=V`; may be repeated")
	flags.BoolVar(&r.o.CleanEnv, "clean-env", false, "of the environment keep only PATH, HOME and the like")
	flags.StringVar(&r.network, "network", "", "with `none` there is no network but a loopback")
	flags.BoolVar(&r.o.Confine, "confine", false, "allow writes only in the tree and in a directory for temporary files")
	flags.StringArrayVar(&r.o.AllowWrite, "allow-write", nil, "with --confine allow writes below `DIR` too; may be repeated")
	flags.StringVar(&r.o.Base, "base", "", "run over `DIR` of the host, which stays as it is; the changes go into a new branch")
	flags.StringVar(&r.result, "result", "", "write the result as JSON to `FILE` of the host")
	flags.BoolVarP(&r.quiet, "quiet", "q", false, "do not print which way was taken")
	flags.SortFlags = false
	_ = cmd.RegisterFlagCompletionFunc("from", a.CompleteTrees)
	_ = cmd.RegisterFlagCompletionFunc("via", cobra.FixedCompletions([]string{"overlay", "live", "copy"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("network", cobra.FixedCompletions([]string{"none"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func needsCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || args[0] == "" {
		return cli.Usage(cmd, "run needs a command, behind --")
	}
	return nil
}

// check refuses flags that make no sense, or not together.
func (r *runFlags) check(cmd *cobra.Command) error {
	for _, pair := range [][2]string{{"branch", "new"}, {"base", "branch"}, {"base", "from"}, {"base", "read-only"}} {
		if err := cli.Exclusive(cmd, pair[0], pair[1]); err != nil {
			return err
		}
	}
	switch r.o.Via = run.Via(r.via); {
	case r.from != "" && r.made == "":
		return cli.Usage(cmd, "--from names the tree that --new forks, and --new is missing")
	case r.o.Via != run.Auto && r.o.Via != run.Overlay && r.o.Via != run.Copy && r.o.Via != run.Live:
		return cli.Usage(cmd, "--via: %q is none of overlay, live and copy", r.via)
	case r.o.Base != "" && r.o.Via != run.Auto && r.o.Via != run.Overlay:
		return cli.Usage(cmd, "--base needs --via overlay")
	case r.network != "" && r.network != "none":
		return cli.Usage(cmd, "--network: %q is not none, and there is nothing else", r.network)
	case len(r.o.AllowWrite) > 0 && !r.o.Confine:
		return cli.Usage(cmd, "--allow-write needs --confine")
	case r.o.Timeout < 0:
		return cli.Usage(cmd, "--timeout is negative")
	}

	for _, kv := range r.o.Env {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" || strings.Contains(kv, "\x00") {
			return cli.Usage(cmd, "--env: %q is not NAME=VALUE", kv)
		}
	}
	r.o.NetworkNone = r.network != ""
	return nil
}

// run runs the command. Signals are for the command, and end nothing here once it runs.
func (r *runFlags) run(c *cli.Call) error {
	if err := r.check(c.Cmd); err != nil {
		return err
	}
	if r.result != "" {
		if err := r.Replaceable(r.result); err != nil {
			return err
		}
	}
	fsys, err := r.branch(c)
	if err != nil {
		return err
	}
	since, err := fsys.Seq(c)
	if err != nil {
		return err
	}

	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE) // a command would inherit that it is ignored
	defer func() { signal.Stop(pipes); signal.Ignore(syscall.SIGPIPE) }()

	if err := errors.Join(r.Out.Flush(), r.Errs.Flush()); err != nil {
		return err
	}
	r.o.Signals = signals
	r.o.Chosen = r.chosen
	r.o.Left = func() { r.say("waiting for programs that the command has left in the branch; an interrupt ends this") }
	cmd := run.Command(context.WithoutCancel(c), fsys, r.o, c.Args[0], c.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = cli.HostInput(r.In), r.Out.Under(), r.Errs.Under()
	err = cmd.Run()
	if cmd.Result == nil && fsys != c.FS {
		err = errors.Join(err, dropUnused(context.WithoutCancel(c), fsys, since))
	}

	err = r.end(cmd, err)
	if failed := cmd.Clean(); failed != nil {
		r.Warn("a directory of the run is left: %v", failed)
	}
	return err
}

// branch finds or makes the branch to run in.
func (r *runFlags) branch(c *cli.Call) (*vfs.FS, error) {
	if r.made == "" && r.o.Base == "" {
		return c.FS, nil
	}
	if r.o.Base != "" {
		if info, err := os.Stat(r.o.Base); err != nil {
			return nil, err
		} else if !info.IsDir() {
			return nil, &os.PathError{Op: "run over", Path: r.o.Base, Err: syscall.ENOTDIR}
		}
	}
	var base snapshot.Tree
	switch {
	case r.from != "":
		tree, err := r.Tree(c, c.FS, r.from)
		if err != nil {
			return nil, err
		}
		base = tree
	case r.o.Base == "":
		base = c.FS
	}

	made, err := snapshot.Branch(c, c.FS, base, r.made)
	if err == nil && r.made == "" {
		r.say("the changes go into the branch %s", made.Head())
	}
	return made, err
}

// dropUnused deletes the new branch of a command that never ran, so that its name is free for the next try. A branch that
// has an event after since stays.
func dropUnused(ctx context.Context, fsys *vfs.FS, since int64) error {
	events, err := fsys.Log(ctx, &vfs.LogOptions{Since: since, Max: 1})
	if err != nil || len(events) > 0 {
		return err
	}
	return snapshot.DeleteBranch(ctx, fsys, fsys.Head())
}

// say prints a line about the run, beside what the command prints.
func (r *runFlags) say(format string, args ...any) {
	if !r.quiet && !r.JSON {
		r.Warn(format, args...)
	}
}

// chosen says which way was taken, if a better one was not.
func (r *runFlags) chosen(via run.Via, declined []run.UnableError) {
	if r.o.Via != run.Auto || len(declined) == 0 {
		return
	}
	var why []string
	for _, d := range declined {
		text := fmt.Sprintf("not by %s: %s", d.Engine, d.Why)
		if d.Remedy != "" {
			text += " (" + d.Remedy + ")"
		}
		why = append(why, text)
	}
	r.say("run by %s, %s", via, strings.Join(why, "; "))
}

// end reports the result, and turns the error of the run into an exit code.
func (r *runFlags) end(cmd *run.Cmd, err error) error {
	var (
		exit  *run.ExitError
		start *run.StartError
		code  cli.Exit
	)
	switch {
	case err == nil:
	case errors.As(err, &start):
		r.Warn("%v", start)
		code = cli.Exit(start.ExitCode())
	case errors.As(err, &exit):
		code = cli.Exit(exit.Code)
		if exit.TimedOut {
			r.say("the command was ended after %v", r.o.Timeout)
		}
	case cmd.Result == nil:
		return err
	default:
		code = cli.CodeOf(err)
		if kept := new(run.KeptError); errors.As(err, &kept) {
			code = cli.ExitFailed // whatever the reason, no branch has the result
		}
		r.Warn("%v", err)
		if conflict := new(run.ConflictError); errors.As(err, &conflict) {
			r.say("vfsctl conflicts lists them, and vfsctl resolve decides")
		}
	}

	if cmd.Result != nil {
		if err := r.report(cmd.Result); err != nil {
			return err
		}
	}
	if code == 0 {
		return nil
	}
	return code
}

// report says what was kept, and writes the result where the flags want it.
func (r *runFlags) report(result *run.Result) error {
	if result.Kept != "" {
		r.say("the directory of the run is kept: %s", result.Kept)
	}
	if r.o.Base != "" && result.Branch != "" && result.Changed > 0 {
		r.say("to bring the changes into %s: %s", r.o.Base, r.Invoke("apply", result.Branch, r.o.Base))
	}

	if r.result != "" {
		err := r.ReplaceHost(r.result, 0o666, func(part *os.File) error {
			text, err := json.Marshal(result)
			if err == nil {
				_, err = io.WriteString(part, string(text)+"\n")
			}
			return err
		})
		if err != nil {
			return err
		}
	}

	if r.JSON {
		return r.Errs.JSON(result)
	}
	return nil
}
