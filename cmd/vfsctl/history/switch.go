package history

import (
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/snapshot"
)

func switchCommand(a *cli.App) *cobra.Command {
	s := &switcher{App: a}
	cmd := &cobra.Command{
		Use:   "switch {BRANCH | - | -c NEW [FROM]}",
		Short: "Stand on a branch, in all later commands",
		Long: `Stand on BRANCH: later commands work there, in every shell, until the next switch. - is the branch before. With
-c, fork the branch NEW from FROM, a branch or a snapshot, or without that from the branch that commands stand on, and
stand on it.

--branch counts before it, for one command, and $VFS_BRANCH, for one shell. A running command, such as mcp or mount, stays
on its branch. Commands about the whole database, such as gc and branch list, are not concerned.

It is remembered for this user, in $XDG_STATE_HOME or the like, so it works with a database that is read-only, and other
users stand where they like. It is remembered for the file at its place: a copy has a branch of its own, and a
database that was moved is on main again. If the branch is deleted, commands say so until the next switch. status shows
the branch; status --prompt shows it in the prompt of a shell.`,
		Example: `  vfsctl switch attempt-2
  vfsctl switch -c attempt-3 before-refactor
  vfsctl switch -
  vfsctl switch main`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("create") {
				return cli.Args(0, 1)(cmd, args)
			}
			return cli.Args(1, 1)(cmd, args)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			names := a.CompleteBranches
			if cmd.Flags().Changed("create") {
				names = a.CompleteTrees
			}
			return cli.CompleteArgs(names, cli.CompleteNothing)(cmd, args, typed)
		},
		RunE: s.on,
	}
	cmd.Flags().StringVarP(&s.made, "create", "c", "", "fork the branch `NEW`, and stand on it")
	_ = cmd.RegisterFlagCompletionFunc("create", cli.CompleteNothing)
	return cmd
}

// A switcher is one run of switch.
type switcher struct {
	*cli.App
	made string // the branch to fork, or ""
}

// on opens the database on main, whatever branch the user stands on: it may be gone. Only a fork of that branch needs it.
func (s *switcher) on(cmd *cobra.Command, args []string) error {
	forks := cmd.Flags().Changed("create")
	if forks && len(args) == 0 && s.At != "" && !cmd.Flags().Changed("at") { // a shell stands there
		args = []string{s.At}
	}
	named := cmd.Flags().Changed("branch")
	switch {
	case forks && s.made == "":
		return cli.Usage(cmd, "-c needs the name of the new branch")
	case cmd.Flags().Changed("at"):
		return cli.Usage(cmd, "switch stands on a branch; to fork a snapshot: switch -c NEW %s", s.At)
	case named && len(args) > 0:
		return cli.Usage(cmd, "switch %s and --branch exclude each other", args[0])
	case !forks:
		return s.OnStore(cli.Reads, s.run)(cmd, args)
	case len(args) == 0:
		return s.On(cli.Writes, s.run)(cmd, args)
	}
	return s.OnStore(cli.Writes, s.run)(cmd, args)
}

func (s *switcher) run(c *cli.Call) error {
	if err := s.CanSwitch(); err != nil {
		return err
	}

	to := c.Arg(0, "")
	if to == "-" {
		before, err := s.SwitchedFrom(c, c.FS)
		if err != nil {
			return err
		}
		to = before
	}

	var err error
	if s.made != "" {
		to, err = s.fork(c, to)
	} else if _, err = c.FS.Branch(c, to); err != nil {
		err = cli.NoTree(c, c.FS, "branch", to, err)
	}
	if err != nil {
		return err
	}

	from, err := s.Switch(c, c.FS, to)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.Out.JSON(struct {
			Branch   string `json:"branch"`
			Previous string `json:"previous"`
			Created  bool   `json:"created"`
		}{to, from, s.made != ""})
	}
	if from == to && s.made == "" {
		return s.Errs.Printf("already on branch %s\n", to)
	}
	return s.Errs.Printf("on branch %s\n", to)
}

// fork makes the branch, and returns its name. ref names what it starts as; "" is the branch that the command stands on.
func (s *switcher) fork(c *cli.Call, ref string) (string, error) {
	var base snapshot.Tree = c.FS
	if ref != "" {
		tree, err := s.Tree(c, c.FS, ref)
		if err != nil {
			return "", err
		}
		base = tree
	}
	made, err := snapshot.Branch(c, c.FS, base, s.made)
	if err != nil {
		return "", err
	}
	return made.Head(), nil
}
