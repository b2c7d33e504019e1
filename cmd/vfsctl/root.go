package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vfsdb/schema"
)

// An app is one run of the program: the global flags, and where it reads and writes.
type app struct {
	db     string // the file
	branch string // the branch to stand on
	at     string // the snapshot to stand on instead
	json   bool
	zero   bool // --print0

	making *creation // of a database that does not have its name yet; nil in all other runs

	in        io.Reader
	out, errs *output
	started   bool // the command line was understood
}

// defaultDB is the database when neither --db nor VFS_DB names one.
const defaultDB = "agent.db"

// The groups of the commands, as help shows them.
const (
	groupFiles   = "files"
	groupHistory = "history"
	groupInOut   = "in-out"
	groupCare    = "care"
	groupDoors   = "doors"
)

// newRoot puts the commands together.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "vfsctl",
		Short: "Work with a versioned filesystem in one SQLite file",
		Long: `vfsctl works with a versioned filesystem that is one SQLite file.

Commands stand on the branch main, or where --branch, --at or $VFS_BRANCH says.
Only init, import, put, tour and mcp --create create a database.`,
		Example: `  vfsctl tour .                          see everything once, on this directory
  vfsctl import . && vfsctl tree         take it in, and look at it
  vfsctl snapshot create before          name this moment
  vfsctl edit main.go --old 8080 --new 9090
  vfsctl diff before                     what has changed since
  vfsctl snapshot restore before         and back`,
		Version:           version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              unknownCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			return cmd.Help()
		},
		PersistentPreRunE: a.stand,
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.db, "db", databaseFromEnv(), "the database `FILE`; $VFS_DB sets another default")
	flags.StringVar(&a.branch, "branch", "", "stand on the branch `NAME` (default $VFS_BRANCH, else main)")
	flags.StringVar(&a.at, "at", "", "stand on `SNAPSHOT`, read-only")
	flags.BoolVar(&a.json, "json", false, "print JSON: an object, or one per line")
	flags.SortFlags = false
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{err: flagErr(err), hint: cmd.CommandPath() + " --help"}
	})
	_ = root.RegisterFlagCompletionFunc("branch", a.completeBranches)
	_ = root.RegisterFlagCompletionFunc("at", a.completeSnapshots)

	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{groupFiles, "Files:", []*cobra.Command{
			a.ls(), a.tree(), a.cat(), a.put(), a.get(), a.stat(), a.find(), a.grep(), a.edit(), a.rm(), a.mv(), a.cp(),
			a.mkdir(), a.ln(), a.chmod(), a.touch(), a.du(),
		}},
		{groupHistory, "History:", []*cobra.Command{a.snapshot(), a.branches(), a.diff(), a.log(), a.blame(), a.watch()}},
		{groupInOut, "In and out:", []*cobra.Command{a.imports(), a.exports(), a.backup()}},
		{groupCare, "Care:", []*cobra.Command{a.initialise(), a.status(), a.info(), a.df(), a.check(), a.gc(), a.compact()}},
		{groupDoors, "Doors:", []*cobra.Command{a.mcp(), a.tools(), a.completion(), a.tour()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommand(a.help())
	root.SetHelpCommandGroupID(groupDoors)
	root.SetUsageTemplate(strings.NewReplacer(
		"{{.UseLine}}", "{{if .HasParent}}{{.UseLine}}{{else}}vfsctl [--db FILE] [--branch NAME | --at SNAPSHOT] COMMAND{{end}}",
		"\n  {{.CommandPath}} [command]", "",
		".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", helpWidth),
	).Replace(root.UsageTemplate()))
	cobra.EnableCommandSorting = false
	reflow(root)
	return root
}

// helpWidth is how many columns a help text may take.
const helpWidth = 80

// reflow fits the texts of a command and of those below it into 80 columns. Lines that are indented stay as they are.
func reflow(cmd *cobra.Command) {
	paragraphs := strings.Split(cmd.Long, "\n\n")
	for i, p := range paragraphs {
		if !strings.HasPrefix(p, " ") {
			paragraphs[i] = wrap(strings.Fields(p), helpWidth-2)
		}
	}
	cmd.Long = strings.Join(paragraphs, "\n\n")
	for _, below := range cmd.Commands() {
		reflow(below)
	}
}

// wrap puts words into lines.
func wrap(words []string, width int) string {
	var b strings.Builder
	used := 0
	for _, w := range words {
		switch {
		case used == 0:
		case used+1+len(w) > width:
			b.WriteByte('\n')
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(w)
		used += len(w)
	}
	return b.String()
}

// version is what the program was built from, and the newest file format that it knows.
func version() string {
	v := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return fmt.Sprintf("%s, file format %d", v, schema.Version)
}

// stand looks at the flags that say where a command stands. $VFS_BRANCH names the branch where neither --branch nor
// --at does.
func (a *app) stand(cmd *cobra.Command, _ []string) error {
	switch {
	case a.db == "":
		return usage(cmd, "--db is empty: it names the file of the database")
	case a.branch != "" && a.at != "":
		return usage(cmd, "--branch and --at exclude each other: a snapshot has its branch")
	case a.zero && a.json:
		return usage(cmd, "--print0 and --json exclude each other: JSON has the bytes of names in path_base64")
	case a.branch == "" && a.at == "":
		a.branch = os.Getenv(branchEnv)
	}
	a.out.zero = a.zero
	return nil
}

// print0 adds the flag -0 to a command that lists names.
func (a *app) print0(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&a.zero, "print0", "0", false, "end lines with a NUL and quote no names, for xargs -0")
}

// branchEnv is the variable that names the branch to stand on.
const branchEnv = "VFS_BRANCH"

func databaseFromEnv() string {
	if db := os.Getenv("VFS_DB"); db != "" {
		return db
	}
	return defaultDB
}

// group is a command that only has others below it.
func group(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	names := make([]string, len(below))
	for i, c := range below {
		names[i] = c.Name()
	}
	cmd.AddCommand(below...)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		which := "one of: " + strings.Join(names, " ")
		if len(args) == 0 {
			return usage(cmd, "%s needs %s", cmd.Name(), which)
		}
		return usage(cmd, "unknown command %q of %s, which has %s", args[0], cmd.Name(), which)
	}
	return cmd
}

// args checks the number of arguments and says what is missing in the words of the usage line; most < 0 is any number.
func args(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		_, want, _ := strings.Cut(cmd.Use, " ")
		switch {
		case len(args) < least:
			return usage(cmd, "%s needs %s", cmd.Name(), want)
		case most == 0 && len(args) > 0:
			return usage(cmd, "%s takes no arguments, and got %q", cmd.Name(), args[0])
		case most >= 0 && len(args) > most:
			return usage(cmd, "%s takes %s, and got %q too", cmd.Name(), want, args[most])
		}
		for _, arg := range args {
			if arg == "" {
				return usage(cmd, "%s: an argument is empty", cmd.Name())
			}
		}
		return nil
	}
}

// exclusive refuses flags that contradict each other.
func exclusive(cmd *cobra.Command, names ...string) error {
	var set []string
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			set = append(set, "--"+name)
		}
	}
	if len(set) > 1 {
		return usage(cmd, "%s exclude each other", strings.Join(set, " and "))
	}
	return nil
}

// flagErr says what is wrong with the value of a flag without the names of Go's functions.
func flagErr(err error) error {
	var bad *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &bad) || !errors.As(err, &number) {
		return err
	}
	return fmt.Errorf("--%s: %q is no whole number: %w", bad.GetFlag().Name, bad.GetValue(), number.Err)
}

// errors of flags that cobra does not know of.
func badFlag(cmd *cobra.Command, name string, err error) error {
	var u *usageError
	if errors.As(err, &u) {
		return err
	}
	return usage(cmd, "--%s: %w", name, fmt.Errorf("%w", err))
}
