package main

import (
	"time"

	"github.com/spf13/cobra"

	"vfsdb/snapshot"
)

func branchCommand(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "branch COMMAND",
		Short: "Fork the tree",
		Long: `Fork the tree: a branch starts as another is, or as a snapshot was, and can be written without
changing either. It costs a few rows, whatever the size of the tree. --branch NAME lets any
command stand on one.`,
		Example: `  vfsctl branch create attempt-2 --from before-refactor
  vfsctl --branch attempt-2 ls
  vfsctl diff main attempt-2`,
	}, a.branchCreate(), a.branchList(), a.branchRename(), a.branchDelete())
}

// A branchJSON is a branch as JSON shows it. Ahead and behind are missing where there is no base.
type branchJSON struct {
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Depth   int       `json:"depth"`
	Base    string    `json:"base,omitempty"`
	Changed time.Time `json:"changed,omitzero"`
	Ahead   *int      `json:"ahead,omitempty"`
	Behind  *int      `json:"behind,omitempty"`
}

func newBranchJSON(s snapshot.Standing) branchJSON {
	b := branchJSON{Name: s.Name, Created: s.Created.UTC(), Depth: s.Depth, Base: s.Base}
	if !s.Changed.IsZero() {
		b.Changed = s.Changed.UTC()
	}
	if s.Base != "" {
		b.Ahead, b.Behind = &s.Ahead, &s.Behind
	}
	return b
}

// branchRow is the line of branch list.
func (a *app) branchRow(s snapshot.Standing) []cell {
	base, ahead, behind, changed := "-", "-", "-", "-"
	if s.Base != "" {
		base, ahead, behind = s.Base, comma(int64(s.Ahead)), comma(int64(s.Behind))
	}
	if !s.Changed.IsZero() {
		changed = moment(s.Changed)
	}
	return []cell{
		{text: s.Name, style: bold},
		{text: base},
		{text: moment(s.Created), style: dim},
		{text: changed, style: dim},
		{text: ahead, right: true},
		{text: behind, right: true},
	}
}

func (a *app) branchCreate() *cobra.Command {
	var from string
	var empty bool
	cmd := &cobra.Command{
		Use:   "create [NAME]",
		Short: "Fork a branch",
		Long: `Fork a branch, and print its name. It starts as --from was; without that as the branch is that
--branch names, else main. Without NAME one is made up.`,
		Example: `  vfsctl branch create attempt-2
  vfsctl branch create attempt-3 --from before-refactor
  vfsctl branch create scratch --empty`,
		Args:              args(0, 1),
		ValidArgsFunction: completeNothing,
		RunE: a.on(writes, func(c *call) error {
			if err := exclusive(c.cmd, "from", "empty"); err != nil {
				return err
			}
			var base snapshot.Tree
			switch {
			case from != "":
				tree, err := a.named(c, c.fsys, from)
				if err != nil {
					return err
				}
				base = tree
			case !empty:
				base = c.fsys
			}
			made, err := snapshot.Branch(c, c.fsys, base, c.arg(0, ""))
			if err != nil {
				return err
			}
			if a.json {
				return a.out.json(nameJSON{made.Head()})
			}
			return a.out.printf("%s\n", made.Head())
		}),
	}
	cmd.Flags().StringVar(&from, "from", "", "start as `SNAPSHOT` was, or as another branch is")
	cmd.Flags().BoolVar(&empty, "empty", false, "start with nothing")
	_ = cmd.RegisterFlagCompletionFunc("from", a.completeTrees)
	return cmd
}

func (a *app) branchList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the branches",
		Long: `List the branches, oldest first: each with the branch that it was forked from, when it was made and last changed,
and how many paths it and its base have changed since the fork. The base of a fork of a branch that had no changes of its
own is that one's base.`,
		Example: `  vfsctl branch list
  vfsctl branch list --json | jq -r .name`,
		Args:              args(0, 0),
		ValidArgsFunction: completeNothing,
		RunE: a.on(reads, func(c *call) error {
			list, err := snapshot.Standings(c, c.fsys)
			if err != nil {
				return err
			}
			var t table
			t.head("NAME", "BASE", "CREATED", "CHANGED", "AHEAD", "BEHIND")
			for _, s := range list {
				if !a.json {
					t.row(a.branchRow(s)...)
					continue
				}
				if err := a.out.json(newBranchJSON(s)); err != nil {
					return err
				}
			}
			if a.json {
				return nil
			}
			return t.print(a.out)
		}),
	}
}

func (a *app) branchRename() *cobra.Command {
	return &cobra.Command{
		Use:               "rename OLD NEW",
		Short:             "Give a branch another name",
		Long:              "Give a branch another name. The branch main keeps its own.",
		Example:           "  vfsctl branch rename attempt-2 winner",
		Args:              args(2, 2),
		ValidArgsFunction: completeArgs(a.completeBranches, completeNothing),
		RunE: a.on(writes, func(c *call) error {
			if err := snapshot.RenameBranch(c, c.fsys, c.args[0], c.args[1]); err != nil || !a.json {
				return noTree(c, c.fsys, "branch", c.args[0], err)
			}
			return a.out.json(nameJSON{c.args[1]})
		}),
	}
}

func (a *app) branchDelete() *cobra.Command {
	return &cobra.Command{
		Use:     "delete NAME...",
		Aliases: []string{"rm"},
		Short:   "Drop branches with their snapshots",
		Long: `Drop branches with their snapshots. Branches that were forked from them keep all that they show. gc
gives back the space. The branch main stays.`,
		Example:           "  vfsctl branch delete attempt-2",
		Args:              args(1, -1),
		ValidArgsFunction: a.completeBranches,
		RunE: a.on(writes, func(c *call) error {
			return a.each(c, c.args, func(name string) error {
				if err := snapshot.DeleteBranch(c, c.fsys, name); err != nil || !a.json {
					return noTree(c, c.fsys, "branch", name, err)
				}
				return a.out.json(nameJSON{name})
			})
		}),
	}
}
