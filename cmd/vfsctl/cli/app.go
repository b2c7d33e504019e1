package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
)

// An App is one run of the program: the global flags, the standard streams, and the database that it creates.
type App struct {
	DB     string // the file
	Branch string // the branch to stand on
	At     string // the snapshot to stand on instead
	JSON   bool
	Zero   bool // --print0

	In        io.Reader
	Out, Errs *term.Output

	above   string    // DB, if it was found above the working directory; else ""
	foreign error     // why the database that was found above is not used
	kept    *standing // what switch has remembered, if Branch is that; else nil
	unclear error     // why it is not known what switch has remembered

	shell   *Shell          // that runs the command, or nil
	words   map[string]Word // the patterns of its command line, by their texts
	placed  bool            // the shell has chosen the tree, and no flag
	probing *probe          // of a completion that is only asked what an argument is

	started bool      // the command line was understood
	making  *creation // a new database that does not have its name yet; nil in all other runs
}

// defaultDB is the database when neither --db nor VFS_DB names one: here, or in a directory above.
const defaultDB = "agent.db"

// Run runs one command line and returns its exit code. newRoot makes the command above all others.
func Run(ctx context.Context, newRoot func(*App) *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) Exit {
	a := &App{In: stdin, Out: term.New(stdout), Errs: term.New(stderr)}
	return a.run(ctx, newRoot, args)
}

func (a *App) run(ctx context.Context, newRoot func(*App) *cobra.Command, args []string) (code Exit) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(a.Errs.Under(), "vfsctl: internal error: %v\n", p)
			code = ExitFailed
		}
	}()

	root := newRoot(a)
	if slices.Contains(args, cobra.ShellCompRequestCmd) || slices.Contains(args, cobra.ShellCompNoDescRequestCmd) {
		completeFlags(root)
	}
	root.SetArgs(args)
	root.SetOut(a.Out)
	root.SetErr(a.Errs)

	err := root.ExecuteContext(ctx)
	flushed := a.Out.Flush()
	if _, told := err.(Exit); err == nil || told && flushed != nil && !errors.Is(flushed, syscall.EPIPE) {
		err = flushed // output that is lost is worse than what an exit code alone would say
	}

	// An error from before the body of a command is about the command line.
	if err != nil && !a.started {
		err = asUsage(err, root, args)
		a.JSON = a.JSON || slices.Contains(args, "--json") // the flag may stand behind the word that was not understood
	}

	code = exitCode(ctx, err)
	a.complain(err, code)
	a.Errs.Flush()
	return code
}

// Register adds the global flags to the command above all others.
func (a *App) Register(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&a.DB, "db", "", "the database `FILE` (default $VFS_DB, else agent.db, here or above)")
	flags.StringVar(&a.Branch, "branch", "", "stand on the branch `NAME` (default $VFS_BRANCH, else that of switch, else main)")
	flags.StringVar(&a.At, "at", "", "stand on `SNAPSHOT` or a moment, read-only; see help refs")
	flags.BoolVar(&a.JSON, "json", false, "print JSON: an object, or one per line")
	flags.SortFlags = false

	root.SetFlagErrorFunc(badFlags)
	_ = root.RegisterFlagCompletionFunc("branch", a.CompleteBranches)
	_ = root.RegisterFlagCompletionFunc("at", a.CompleteMoments)
	root.PersistentPreRunE = a.stand
}

// stand checks the flags that choose a database and a tree. Where neither --branch nor --at names a branch, $VFS_BRANCH
// does, and without that it is the one that switch has remembered. A completion stands twice: before and after its flags are understood.
func (a *App) stand(cmd *cobra.Command, _ []string) error {
	if !cmd.Flags().Changed("branch") {
		a.NoBranch()
	}
	switch {
	case a.DB == "" && cmd.Flags().Changed("db"):
		return Usage(cmd, "--db is empty: it names the file of the database")
	case a.Branch == "" && cmd.Flags().Changed("branch"):
		return Usage(cmd, "--branch is empty: it names a branch")
	case a.At == "" && cmd.Flags().Changed("at"):
		return Usage(cmd, "--at is empty: it names a snapshot or a moment")
	case a.Branch != "" && a.At != "":
		return Usage(cmd, "--branch and --at exclude each other: a snapshot has its branch")
	case a.Zero && a.JSON:
		return Usage(cmd, "--print0 and --json exclude each other: JSON has the bytes of names in path_base64")
	}
	a.Out.Zero = a.Zero
	if a.shell != nil && !cmd.Flags().Changed("db") {
		a.shell.place(a, cmd)
		return nil
	}
	a.find(cmd)

	if a.Branch != "" || a.At != "" && !strings.HasPrefix(a.At, "@{") {
		return nil
	}
	a.Branch = os.Getenv(branchEnv)
	if a.Branch == "" && a.foreign == nil && !a.Absent() {
		if a.kept, a.unclear = loadStanding(a.DB); a.kept != nil {
			a.Branch = a.kept.Branch
		}
	}
	return nil
}

// Print0 adds the flag -0 to a command that lists names.
func (a *App) Print0(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&a.Zero, "print0", "0", false, "end lines with a NUL and quote no names, for xargs -0")
}

// The variables that name the database, and the branch to stand on.
const (
	databaseEnv = "VFS_DB"
	branchEnv   = "VFS_BRANCH"
)

// NoBranch makes the App stand on main, for a command that is not about a branch.
func (a *App) NoBranch() {
	a.Branch, a.kept, a.unclear = "", nil, nil
	if a.placed {
		a.At = ""
	}
}

// Use makes the App stand on a branch of a database that are named by something else than the global flags.
func (a *App) Use(db, branch string) {
	a.DB, a.above, a.foreign = db, "", nil
	a.Branch, a.kept, a.unclear = branch, nil, nil
}

// Stood reports whether the database was found above the working directory, or the branch is the one that switch has
// remembered: nothing on the command line names it then.
func (a *App) Stood() bool { return a.above != "" || a.kept != nil }

// bySwitch says that switch has chosen the branch.
const bySwitch = "vfsctl switch"

// Chooser returns what names the branch: "vfsctl switch", "$VFS_BRANCH", or "" for the command line or nothing at all.
func (a *App) Chooser() string {
	switch {
	case a.Branch == "":
		return ""
	case a.kept != nil:
		return bySwitch
	case os.Getenv(branchEnv) == a.Branch:
		return "$" + branchEnv
	}
	return ""
}

// Invoke writes a command line for the same database.
func (a *App) Invoke(args ...string) string {
	words := []string{"vfsctl"}
	if a.DB != defaultDB && a.DB != a.above {
		words = append(words, "--db", a.DB)
	}
	return human.CommandLine(append(words, args...)...)
}

// Progress starts a line on standard error; with --json it returns nil, which shows nothing. total is in bytes, and 0
// if it is not known.
func (a *App) Progress(ctx context.Context, what string, total int64) *term.Progress {
	if a.JSON {
		return nil
	}
	return a.Errs.Progress(ctx, what, total)
}
