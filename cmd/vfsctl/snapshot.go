package main

import (
	"time"

	"github.com/spf13/cobra"

	"vfsdb/snapshot"
)

func snapshotCommand(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "snapshot COMMAND",
		Short: "Name moments, look at them, go back to them",
		Long: `Name moments of a branch, look at them, and go back to them. A snapshot costs one row, whatever the
size of the tree. --at SNAPSHOT lets any command that reads stand on one.`,
		Example: `  vfsctl snapshot create before-refactor
  vfsctl --at before-refactor cat main.go
  vfsctl snapshot restore before-refactor`,
	}, a.snapshotCreate(), a.snapshotList(), a.snapshotShow(), a.snapshotRestore(), a.snapshotDelete())
}

// A snapshotJSON is a snapshot as JSON shows it.
type snapshotJSON struct {
	Name    string    `json:"name"`
	Branch  string    `json:"branch"`
	Created time.Time `json:"created"`
	Note    string    `json:"note"`
}

func newSnapshotJSON(s snapshot.Info) snapshotJSON {
	return snapshotJSON{Name: s.Name, Branch: s.Branch, Created: s.Created.UTC(), Note: s.Note}
}

func (a *app) snapshotCreate() *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:   "create [NAME]",
		Short: "Name the present moment of a branch",
		Long: `Name the present moment of a branch, and print the name. Without NAME one is made up. No
snapshot and no branch may have it already.`,
		Example: `  vfsctl snapshot create before-refactor
  vfsctl snapshot create v2 --note 'all tests pass'
  id=$(vfsctl snapshot create)`,
		Args:              args(0, 1),
		ValidArgsFunction: completeNothing,
		RunE: a.on(writes, func(c *call) error {
			s, err := snapshot.Create(c, c.fsys, c.arg(0, ""), &snapshot.Options{Note: note})
			if err != nil {
				return err
			}
			if a.json {
				return a.out.json(newSnapshotJSON(s.Info))
			}
			return a.out.printf("%s\n", s.Info.Name)
		}),
	}
	cmd.Flags().StringVar(&note, "note", "", "a `TEXT` to keep with it")
	return cmd
}

func (a *app) snapshotList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the snapshots of all branches, or of one",
		Long:    "List the snapshots, oldest first: of all branches, or of the one that --branch names.",
		Example: `  vfsctl snapshot list
  vfsctl --branch attempt-2 snapshot list
  vfsctl snapshot list --json | jq -r .name`,
		Args:              args(0, 0),
		ValidArgsFunction: completeNothing,
		RunE: a.on(reads, func(c *call) error {
			list, err := snapshot.List(c, c.fsys)
			if err != nil {
				return err
			}
			var t table
			t.head("NAME", "BRANCH", "CREATED", "NOTE")
			for _, s := range list {
				if c.cmd.Flags().Changed("branch") && s.Branch != a.branch {
					continue
				}
				if !a.json {
					t.row(cell{text: s.Name, style: bold}, cell{text: s.Branch}, cell{text: moment(s.Created), style: dim}, cell{text: a.out.name(s.Note)})
					continue
				}
				if err := a.out.json(newSnapshotJSON(s)); err != nil {
					return err
				}
			}
			if len(t.rows) == 1 { // no snapshot, no titles
				return nil
			}
			return t.print(a.out)
		}),
	}
}

func (a *app) snapshotShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Tell about a snapshot",
		Long:  "Tell about a snapshot: of which branch and when, and how much has changed there since.",
		Example: `  vfsctl snapshot show before-refactor
  vfsctl snapshot show --json before-refactor`,
		Args:              args(1, 1),
		ValidArgsFunction: completeArgs(a.completeSnapshots, completeNothing),
		RunE: a.on(reads, func(c *call) error {
			s, err := snapshot.Open(c, c.fsys, c.args[0])
			if err != nil {
				return noTree(c, c.fsys, "snapshot", c.args[0], err)
			}
			head, err := c.fsys.Branch(c, s.Info.Branch)
			if err != nil {
				return err
			}
			since, err := countChanges(snapshot.Diff(c, s, head))
			if err != nil {
				return err
			}
			if a.json {
				return a.out.json(struct {
					snapshotJSON
					Since changeCount `json:"changes_since"`
				}{newSnapshotJSON(s.Info), since})
			}
			for _, f := range [][2]string{
				{"name", s.Info.Name},
				{"branch", s.Info.Branch},
				{"created", moment(s.Info.Created)},
				{"note", a.out.name(s.Info.Note)},
				{"since", since.String()},
			} {
				if f[1] == "" {
					continue
				}
				if err := a.out.field(f[0], f[1]); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

func (a *app) snapshotRestore() *cobra.Command {
	return &cobra.Command{
		Use:   "restore NAME",
		Short: "Make a branch what a snapshot is",
		Long: `Make the branch what a snapshot is, or what another branch is now. What it was until then is kept as a
snapshot, whose name is printed: restoring that undoes this. It takes as long as there is
to change, whatever the size of the tree.`,
		Example: `  vfsctl snapshot restore before-refactor
  undo=$(vfsctl snapshot restore v1) && vfsctl snapshot restore "$undo"
  vfsctl --branch attempt-2 snapshot restore main`,
		Args:              args(1, 1),
		ValidArgsFunction: completeArgs(a.completeTrees, completeNothing),
		RunE: a.on(writes, func(c *call) error {
			tree, err := a.named(c, c.fsys, c.args[0])
			if err != nil {
				return err
			}
			undo, err := snapshot.Restore(c, c.fsys, tree)
			if err != nil {
				return err
			}
			if a.json {
				return a.out.json(struct {
					Branch   string       `json:"branch"`
					Restored string       `json:"restored"`
					Undo     snapshotJSON `json:"undo"`
				}{c.fsys.Head(), c.args[0], newSnapshotJSON(undo.Info)})
			}
			return a.out.printf("%s\n", undo.Info.Name)
		}),
	}
}

func (a *app) snapshotDelete() *cobra.Command {
	return &cobra.Command{
		Use:     "delete NAME...",
		Aliases: []string{"rm"},
		Short:   "Forget snapshots",
		Long: `Forget snapshots. Branches that were forked from them stay. gc gives back the space of what nothing
else keeps.`,
		Example: `  vfsctl snapshot delete before-refactor
  vfsctl snapshot list --json | jq -r .name | grep ^undo- |
    xargs vfsctl snapshot delete`,
		Args:              args(1, -1),
		ValidArgsFunction: a.completeSnapshots,
		RunE: a.on(writes, func(c *call) error {
			return a.each(c, c.args, func(name string) error {
				if err := snapshot.Delete(c, c.fsys, name); err != nil || !a.json {
					return noTree(c, c.fsys, "snapshot", name, err)
				}
				return a.out.json(nameJSON{name})
			})
		}),
	}
}

// A nameJSON is the name of a snapshot or a branch and nothing else.
type nameJSON struct {
	Name string `json:"name"`
}
