package history

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

func branchCommand(a *cli.App) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "branch COMMAND",
		Short: "Fork the tree",
		Long: `Fork the tree: a new branch starts as a copy of another branch or of a snapshot, and writes to it
change neither. A fork costs a few rows, whatever the size of the tree. --branch NAME lets any command stand
on one, and switch NAME all later ones.`,
		Example: `  vfsctl branch create attempt-2 --from before-refactor
  vfsctl --branch attempt-2 ls
  vfsctl diff main attempt-2
  vfsctl branch update attempt-2 && vfsctl branch adopt attempt-2`,
	}, branchCreate(a), branchList(a), branchUpdate(a), branchAdopt(a), branchRename(a), branchDelete(a))
}

// A branchJSON is a branch as JSON shows it. One that has nothing in common with main, and main itself, has neither ahead nor
// behind.
type branchJSON struct {
	Name    string    `json:"name"`
	Current bool      `json:"current"` // commands stand on it
	Created time.Time `json:"created"`
	Depth   int       `json:"depth"`
	Base    string    `json:"base,omitempty"`
	Changed time.Time `json:"changed,omitzero"`
	Ahead   *int      `json:"ahead,omitempty"`
	Behind  *int      `json:"behind,omitempty"`
}

func newBranchJSON(s snapshot.Standing, current bool) branchJSON {
	b := branchJSON{Name: s.Name, Current: current, Created: s.Created.UTC(), Depth: s.Depth, Base: s.Base}
	if !s.Changed.IsZero() {
		b.Changed = s.Changed.UTC()
	}
	if s.Ahead >= 0 {
		b.Ahead, b.Behind = &s.Ahead, &s.Behind
	}
	return b
}

// branchRow returns the line of branch list.
func branchRow(s snapshot.Standing, current bool) []term.Cell {
	mark, base, ahead, behind, changed := "  ", cmp.Or(s.Base, "-"), "-", "-", "-"
	if current {
		mark = "* "
	}
	if s.Ahead >= 0 {
		ahead, behind = human.Comma(int64(s.Ahead)), human.Comma(int64(s.Behind))
	}
	if !s.Changed.IsZero() {
		changed = human.Moment(s.Changed)
	}
	return []term.Cell{
		{Text: mark + s.Name, Style: term.Bold},
		{Text: base},
		{Text: human.Moment(s.Created), Style: term.Dim},
		{Text: changed, Style: term.Dim},
		{Text: ahead, Right: true},
		{Text: behind, Right: true},
	}
}

func branchCreate(a *cli.App) *cobra.Command {
	var from string
	var empty bool
	cmd := &cobra.Command{
		Use:   "create [NAME]",
		Short: "Fork a branch",
		Long: `Fork a branch, and print its name. It starts as a copy of --from, a REF of help refs, or without that of the branch
that --branch, $VFS_BRANCH or switch names, else of main. Without NAME a name is made up.`,
		Example: `  vfsctl branch create attempt-2
  vfsctl branch create attempt-3 --from before-refactor
  vfsctl branch create scratch --empty`,
		Args:              cli.Args(0, 1),
		ValidArgsFunction: cli.CompleteNothing,
		RunE: a.On(cli.Writes, func(c *cli.Call) error {
			if err := cli.Exclusive(c.Cmd, "from", "empty"); err != nil {
				return err
			}

			var base snapshot.Tree
			switch {
			case from != "":
				tree, err := a.Tree(c, c.FS, from)
				if err != nil {
					return err
				}
				base = tree
			case !empty:
				base = c.FS
			}

			made, err := snapshot.Branch(c, c.FS, base, c.Arg(0, ""))
			if err != nil {
				return err
			}
			if a.JSON {
				return a.Out.JSON(nameJSON{made.Head()})
			}
			return a.Out.Printf("%s\n", made.Head())
		}),
	}

	cmd.Flags().StringVar(&from, "from", "", "start as a copy of `SNAPSHOT`, or of another branch")
	cmd.Flags().BoolVar(&empty, "empty", false, "start empty")
	_ = cmd.RegisterFlagCompletionFunc("from", a.CompleteTrees)
	return cmd
}

func branchList(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the branches",
		Long: `List the branches, oldest first: each with the branch that it was forked from, the times when it was
made and last changed, and how many calls it is ahead of main, and behind: the calls of its past that main does not
have, by a merge or otherwise, and those of main that it does not have. A * marks the branch that commands stand on. A
fork of a branch without changes of its own has the base of that branch.`,
		Example: `  vfsctl branch list
  vfsctl branch list --json | jq -r .name`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cli.CompleteNothing,
		RunE: a.OnStore(cli.Reads, func(c *cli.Call) error {
			list, err := snapshot.Standings(c, c.FS)
			if err != nil {
				return err
			}

			var t term.Table
			t.Head("  NAME", "BASE", "CREATED", "CHANGED", "AHEAD", "BEHIND")
			at := a.Standing(c, c.FS)
			for _, s := range list {
				if !a.JSON {
					t.Row(branchRow(s, s.Name == at)...)
					continue
				}
				if err := a.Out.JSON(newBranchJSON(s, s.Name == at)); err != nil {
					return err
				}
			}

			if a.JSON {
				return nil
			}
			return t.Print(a.Out)
		}),
	}
}

func branchRename(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "rename OLD NEW",
		Short: "Give a branch another name",
		Long: `Give a branch another name. The branch main cannot be renamed. If you stand on the branch by switch, you still
do. Its snapshots that an apply begins with, NAME-base and NAME-applied-..., take the new name too.`,
		Example:           "  vfsctl branch rename attempt-2 winner",
		Args:              cli.Args(2, 2),
		ValidArgsFunction: cli.CompleteArgs(a.CompleteBranches, cli.CompleteNothing),
		RunE: a.OnStore(cli.Writes, func(c *cli.Call) error {
			if err := snapshot.RenameBranch(c, c.FS, c.Args[0], c.Args[1]); err != nil {
				return cli.NoTree(c, c.FS, "branch", c.Args[0], err)
			}

			if err := a.FollowRename(c, c.FS, c.Args[0], c.Args[1]); err != nil {
				a.Warn("the branch has its new name, but switch remembers the old one: %v", err)
			}

			if !a.JSON {
				return nil
			}
			return a.Out.JSON(nameJSON{c.Args[1]})
		}),
	}
}

func branchDelete(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "delete NAME...",
		Aliases: []string{"rm", "drop"},
		Short:   "Drop branches with their snapshots",
		Long: `Drop branches with their snapshots. Branches that were forked from them keep all their files. gc
frees the space. The branch main cannot be deleted, nor can the one that you stand on by switch, or in a shell.`,
		Example:           "  vfsctl branch delete attempt-2",
		Args:              cli.Args(1, -1),
		ValidArgsFunction: a.CompleteBranches,
		RunE: deleteEach(a, "branch", func(ctx context.Context, fsys *vfs.FS, name string) error {
			stands := name == a.Remembered(ctx, fsys) || a.Shell() != nil && name == a.Standing(ctx, fsys)
			if name != vfs.MainBranch && stands {
				err := fmt.Errorf("%w: you stand on it; first stand elsewhere: %s", syscall.EPERM, a.Invoke("switch", vfs.MainBranch))
				return &fs.PathError{Op: "delete branch", Path: name, Err: err}
			}
			return snapshot.DeleteBranch(ctx, fsys, name)
		}),
	}
}
