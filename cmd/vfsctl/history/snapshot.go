package history

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/snapshot"
)

func snapshotCommand(a *cli.App) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "snapshot COMMAND",
		Short: "Name moments, look at them, go back to them",
		Long: `Name moments of a branch, look at them, and go back to them. A snapshot costs one row, whatever the
size of the tree. --at SNAPSHOT lets any command that reads stand on one.`,
		Example: `  vfsctl snapshot create before-refactor
  vfsctl --at before-refactor cat main.go
  vfsctl snapshot restore before-refactor`,
	}, snapshotCreate(a), snapshotList(a), snapshotShow(a), snapshotRestore(a), snapshotDelete(a), snapshotPrune(a))
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

func snapshotCreate(a *cli.App) *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:   "create [NAME]",
		Short: "Name the present moment of a branch",
		Long: `Name the present moment of a branch, and print the name. Without NAME a name is made up. The name
must not be that of another snapshot or of a branch.`,
		Example: `  vfsctl snapshot create before-refactor
  vfsctl snapshot create v2 --note 'all tests pass'
  id=$(vfsctl snapshot create)`,
		Args:              cli.Args(0, 1),
		ValidArgsFunction: cli.CompleteNothing,
		RunE: a.On(cli.Writes, func(c *cli.Call) error {
			s, err := snapshot.Create(c, c.FS, c.Arg(0, ""), &snapshot.Options{Note: note})
			if err != nil {
				return err
			}
			if a.JSON {
				return a.Out.JSON(newSnapshotJSON(s.Info))
			}
			return a.Out.Printf("%s\n", s.Info.Name)
		}),
	}

	cmd.Flags().StringVar(&note, "note", "", "a `TEXT` to keep with it")
	return cmd
}

func snapshotList(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the snapshots of all branches, or of one",
		Long:    "List the snapshots, oldest first: of all branches, or of the one that --branch names, with the first line of each note.",
		Example: `  vfsctl snapshot list
  vfsctl --branch attempt-2 snapshot list
  vfsctl snapshot list --json | jq -r .name`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cli.CompleteNothing,
		RunE: a.OnStore(cli.Reads, func(c *cli.Call) error {
			list, err := snapshot.List(c, c.FS)
			if err != nil {
				return err
			}

			var t term.Table
			t.Head("NAME", "BRANCH", "CREATED", "NOTE")
			for _, s := range list {
				if c.Cmd.Flags().Changed("branch") && s.Branch != a.Branch {
					continue
				}
				if !a.JSON {
					note, _, _ := strings.Cut(s.Note, "\n") // that of an imported commit is its message
					t.Row(term.Cell{Text: s.Name, Style: term.Bold}, term.Cell{Text: s.Branch}, term.Cell{Text: human.Moment(s.Created), Style: term.Dim}, term.Cell{Text: a.Out.Name(note)})
					continue
				}
				if err := a.Out.JSON(newSnapshotJSON(s)); err != nil {
					return err
				}
			}

			if len(t.Rows) == 1 { // no snapshot, no titles
				return nil
			}
			return t.Print(a.Out)
		}),
	}
}

func snapshotShow(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Show a snapshot",
		Long:  "Show the branch, the time and the note of a snapshot, and how much has changed on the branch since.",
		Example: `  vfsctl snapshot show before-refactor
  vfsctl snapshot show --json before-refactor`,
		Args:              cli.Args(1, 1),
		ValidArgsFunction: cli.CompleteArgs(a.CompleteSnapshots, cli.CompleteNothing),
		RunE:              a.OnStore(cli.Reads, func(c *cli.Call) error { return showSnapshot(a, c, c.Args[0]) }),
	}
}

func showSnapshot(a *cli.App, c *cli.Call, name string) error {
	s, err := snapshot.Open(c, c.FS, name)
	if err != nil {
		return cli.NoTree(c, c.FS, "snapshot", name, err)
	}
	head, err := c.FS.Branch(c, s.Info.Branch)
	if err != nil {
		return err
	}
	since, err := CountChanges(snapshot.Diff(c, s, head))
	if err != nil {
		return err
	}

	if a.JSON {
		return a.Out.JSON(struct {
			snapshotJSON
			Since changeCount `json:"changes_since"`
		}{newSnapshotJSON(s.Info), since})
	}
	err = a.Out.Fields([][2]string{
		{"name", s.Info.Name},
		{"branch", s.Info.Branch},
		{"created", human.Moment(s.Info.Created)},
		{"since", since.String()},
	}...)
	if err == nil && s.Info.Note != "" {
		err = errors.Join(a.Out.Printf("\n"), a.Out.Text(s.Info.Note))
	}
	return err
}

func snapshotRestore(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "restore REF",
		Short: "Bring a branch back to a snapshot or a moment",
		Long: `Make the branch equal to a snapshot, to another branch as it is now, or to another REF of help refs. The state before is kept as
a snapshot, whose name is printed. To restore that one undoes the restore. The time depends on the number of
changes, not on the size of the tree.`,
		Example: `  vfsctl snapshot restore before-refactor
  undo=$(vfsctl snapshot restore v1) && vfsctl snapshot restore "$undo"
  vfsctl snapshot restore '@{2 hours ago}'
  vfsctl --branch attempt-2 snapshot restore main`,
		Args:              cli.Args(1, 1),
		ValidArgsFunction: cli.CompleteArgs(a.CompleteTrees, cli.CompleteNothing),
		RunE:              a.On(cli.Writes, func(c *cli.Call) error { return restore(a, c, c.Args[0]) }),
	}
}

func restore(a *cli.App, c *cli.Call, name string) error {
	tree, err := a.Tree(c, c.FS, name)
	if err != nil {
		return err
	}
	undo, err := snapshot.Restore(c, c.FS, tree)
	if err != nil {
		return err
	}

	if a.JSON {
		return a.Out.JSON(struct {
			Branch   string       `json:"branch"`
			Restored string       `json:"restored"`
			Undo     snapshotJSON `json:"undo"`
		}{c.FS.Head(), name, newSnapshotJSON(undo.Info)})
	}
	return a.Out.Printf("%s\n", undo.Info.Name)
}

func snapshotDelete(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "delete NAME...",
		Aliases: []string{"rm"},
		Short:   "Forget snapshots",
		Long:    `Forget snapshots. Branches that were forked from them stay. gc frees content that nothing else keeps.`,
		Example: `  vfsctl snapshot delete before-refactor
  vfsctl snapshot list --json | jq -r .name | grep ^try- |
    xargs vfsctl snapshot delete`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: a.CompleteSnapshots,
		RunE:              deleteEach(a, "snapshot", snapshot.Delete),
	}
}
