package history

import (
	"slices"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/merge"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

func mergeCommand(a *cli.App) *cobra.Command {
	m := &merger{App: a}
	cmd := &cobra.Command{
		Use:   "merge SOURCE",
		Short: "Bring the changes of another branch into this one",
		Long: `Bring what SOURCE has changed since it and the branch were one into the branch, in one commit. SOURCE is a
branch, a snapshot, or another REF of help refs, and stays as it is. A file is known by its inode, so a file that one side
renamed and the other edited is both afterwards. Texts are merged by line. A second merge of the same branch
brings only what is new.

A merge does not fail for conflicts. What both sides changed in different ways stays as the branch has it, and
the exit code is 14: conflicts lists such files, cat --side shows the other states, and resolve decides. --ours and
--theirs decide for this merge; conflicts of earlier ones stay. The state before is kept as a snapshot, whose name is
printed; to restore it undoes the merge.

Changes have the letters of diff, and conflicts the letter C. base in the JSON is the moments that both had in
common.`,
		Example: `  vfsctl merge attempt-2 --dry-run
  vfsctl merge attempt-2
  vfsctl merge main --into attempt-3 --theirs`,
		Args:              cli.Args(1, 1),
		ValidArgsFunction: cli.CompleteArgs(a.CompleteTrees, cli.CompleteNothing),
		RunE: a.On(cli.Writes, func(c *cli.Call) error {
			m.Call = c
			if err := cli.Exclusive(c.Cmd, "into", "branch"); err != nil {
				return err
			}
			return m.run(c.Args[0])
		}),
	}

	m.flags(cmd)
	cmd.Flags().StringVar(&m.into, "into", "", "change `BRANCH` instead of the one that --branch names")
	_ = cmd.RegisterFlagCompletionFunc("into", a.CompleteBranches)
	return cmd
}

// A merger is one run of merge.
type merger struct {
	*cli.App
	*cli.Call
	into         string
	ours, theirs bool
	o            merge.Options
}

// flags adds the flags of all commands that merge.
func (m *merger) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&m.ours, "ours", false, "where both changed a file, keep what the branch has")
	cmd.Flags().BoolVar(&m.theirs, "theirs", false, "where both changed a file, take what comes")
	cmd.Flags().BoolVar(&m.o.DryRun, "dry-run", false, "print the result, and change nothing")
}

// parse reads the flags.
func (m *merger) parse(cmd *cobra.Command) error {
	if err := cli.Exclusive(cmd, "ours", "theirs"); err != nil {
		return err
	}
	switch {
	case m.ours:
		m.o.Prefer = merge.Ours
	case m.theirs:
		m.o.Prefer = merge.Theirs
	}
	return nil
}

func (m *merger) run(source string) error {
	if err := m.parse(m.Cmd); err != nil {
		return err
	}
	target, err := m.target()
	if err != nil {
		return err
	}
	from, err := m.Tree(m, m.FS, source)
	if err != nil {
		return err
	}

	result, err := merge.Into(m, target, from, &m.o)
	if err != nil {
		return err
	}
	if err := m.print(source, target.Head(), result); err != nil {
		return err
	}
	if len(result.Conflicts) > 0 {
		return cli.ExitConflict
	}
	return nil
}

// target returns the branch that is changed.
func (m *merger) target() (*vfs.FS, error) {
	if m.into == "" {
		return m.FS, nil
	}
	target, err := m.FS.Branch(m, m.into)
	return target, cli.NoTree(m, m.FS, "branch", m.into, err)
}

// A mergeJSON is the result of a merge as JSON shows it.
type mergeJSON struct {
	Source      string         `json:"source"`
	Into        string         `json:"into"`
	DryRun      bool           `json:"dry_run,omitempty"`
	UpToDate    bool           `json:"up_to_date"`
	FastForward bool           `json:"fast_forward"`
	Base        []momentJSON   `json:"base"`
	Undo        string         `json:"undo,omitempty"`
	Changes     []changeJSON   `json:"changes"`
	Conflicts   []conflictJSON `json:"conflicts"`
}

// A momentJSON is a past moment as JSON shows it: of its branch, unless that was dropped, and with the oldest snapshot of
// it, if there is one.
type momentJSON struct {
	Branch   string `json:"branch,omitempty"`
	Epoch    int64  `json:"epoch"`
	Snapshot string `json:"snapshot,omitempty"`
}

func (m *merger) print(source, into string, r *merge.Result) error {
	if m.JSON {
		base, err := m.moments(r.Base)
		if err != nil {
			return err
		}
		return m.Out.JSON(m.json(source, into, base, r))
	}

	if err := printChanges(m.Out, r.Changes, r.Conflicts); err != nil {
		return err
	}
	switch {
	case r.UpToDate:
		return m.Out.Printf("%s has all of %s already\n", m.Out.Name(into), m.Out.Name(source))
	case m.o.DryRun:
		return m.Out.Printf("nothing was changed: %s\n", countChanges(r.Changes, r.Conflicts))
	}
	return m.Out.Printf("%s\n", r.Undo)
}

// moments describes moments by the names that they have.
func (m *merger) moments(list []vfs.Moment) ([]momentJSON, error) {
	branches, err := m.FS.Store().Branches(m)
	if err != nil {
		return nil, err
	}

	out := []momentJSON{}
	for _, at := range list {
		snapshots, err := snapshot.ListAt(m, m.FS, at)
		if err != nil {
			return nil, err
		}
		named := momentJSON{Epoch: at.Epoch}
		if i := slices.IndexFunc(branches, func(b vfs.Branch) bool { return b.ID == at.Branch }); i >= 0 {
			named.Branch = branches[i].Name
		}
		if len(snapshots) > 0 {
			named.Snapshot = snapshots[0].Name
		}
		out = append(out, named)
	}
	return out, nil
}

func (m *merger) json(source, into string, base []momentJSON, r *merge.Result) mergeJSON {
	out := mergeJSON{
		Source: source, Into: into, DryRun: m.o.DryRun, UpToDate: r.UpToDate, FastForward: r.FastForward,
		Base: base, Changes: changesJSON(r.Changes), Conflicts: conflictsJSON(r.Conflicts),
	}
	if !m.o.DryRun {
		out.Undo = r.Undo
	}
	return out
}
