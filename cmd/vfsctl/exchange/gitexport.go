package exchange

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/git"
	"vfsdb/merge"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

func gitExport(a *cli.App) *cobra.Command {
	ex := &gitExporter{App: a}
	cmd := &cobra.Command{
		Use:   "export [REF]",
		Short: "Write a branch and its snapshots for git fast-import",
		Long: `Write a stream for git fast-import to standard output. REF is a branch or a snapshot, by default the
branch main. Each snapshot of its past is a commit, oldest first, and so is its present state if that has changed
since. Snapshots that restores, merges, applies and sessions make by themselves are none unless --automatic is given.

The author is that of the last change, from the log, and the time that of the snapshot. The message is the
note of the snapshot or its name, with a line for each call that changed something. A snapshot that git import
has made becomes the commit that it was, with the same id if it had one parent, with the same id, and neither a
signature nor an encoding.

The commits go to refs/heads/REF of the repository that reads. --since leaves out those up to SNAPSHOT: the first
commit then follows the one that git import has made SNAPSHOT from, or else what that ref is there, or with --onto
the commit that it names.

What git cannot have is named, and the exit code is 3. With --json a report is on standard error.`,
		Example: `  vfsctl git export main | git fast-import
  vfsctl git export try --since main-0123456789ab |
    git -C ~/project fast-import
  vfsctl git export --all | git fast-import`,
		Args:              cli.Args(0, 1),
		ValidArgsFunction: cli.CompleteArgs(a.CompleteTrees, cli.CompleteNothing),
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			ex.Call = c
			return ex.run()
		}),
	}

	cmd.Flags().StringVar(&ex.since, "since", "", "leave out the commits up to `SNAPSHOT`")
	cmd.Flags().StringVar(&ex.o.Onto, "onto", "", "let the first commit follow `COMMIT` of the repository")
	cmd.Flags().StringVar(&ex.ref, "ref", "", "write to the branch `NAME` of the repository, or to refs/...")
	cmd.Flags().BoolVar(&ex.all, "all", false, "write all branches")
	cmd.Flags().BoolVar(&ex.o.Automatic, "automatic", false, "write the automatic snapshots too")
	cmd.Flags().BoolVar(&ex.conflicts, "with-conflicts", false, "write files in conflict as the branch has them")
	_ = cmd.RegisterFlagCompletionFunc("since", a.CompleteSnapshots)
	_ = cmd.RegisterFlagCompletionFunc("onto", cli.CompleteNothing)
	_ = cmd.RegisterFlagCompletionFunc("ref", cli.CompleteNothing)
	return cmd
}

// A gitExporter is one run of git export.
type gitExporter struct {
	*cli.App
	*cli.Call
	since, ref     string
	all, conflicts bool
	o              git.ExportOptions
}

func (ex *gitExporter) run() error {
	if err := ex.check(); err != nil {
		return err
	}
	refs, err := ex.refs()
	if err != nil {
		return err
	}
	if ex.since != "" {
		if ex.o.Since, err = snapshot.Open(ex, ex.FS, ex.since); err != nil {
			return cli.NoTree(ex, ex.FS, "snapshot", ex.since, err)
		}
	}
	for _, r := range refs {
		if err := ex.refuseConflicts(r.Tree.Tree()); err != nil {
			return err
		}
	}

	start := time.Now()
	bar := ex.Progress(ex, "export", 0)
	ex.o.Progress = func(commits, bytes int64) { bar.At(bytes, "  "+human.Plural(commits, "commit", "commits")) }
	report, err := git.Export(ex, ex.Out, refs, &ex.o)
	bar.End()
	if err != nil {
		return err
	}
	if err := ex.Out.Flush(); err != nil {
		return err
	}
	if ex.JSON {
		err = ex.Errs.JSON(newGitJSON(report))
	} else {
		err = ex.Errs.Printf("exported %s in %s\n", gitContents(report), human.Took(time.Since(start)))
	}
	if err != nil {
		return err
	}
	if ex.since == "" && report.Files == 0 {
		ex.Warn("git export: there are no files, and the commits are empty")
	}
	return reportLost(ex.App, report)
}

// check refuses what does not go together.
func (ex *gitExporter) check() error {
	if err := cli.Exclusive(ex.Cmd, "all", "since"); err != nil {
		return err
	}
	if err := cli.Exclusive(ex.Cmd, "all", "onto"); err != nil {
		return err
	}
	if err := cli.Exclusive(ex.Cmd, "all", "ref"); err != nil {
		return err
	}
	switch {
	case ex.all && len(ex.Args) > 0:
		return cli.Usage(ex.Cmd, "--all writes all branches, and so takes no REF")
	case len(ex.Args) > 0 && (ex.Cmd.Flags().Changed("branch") || ex.At != ""):
		return cli.Usage(ex.Cmd, "REF names the tree, and so do --branch and --at: give one of them")
	case ex.Out.TTY:
		return cli.Usage(ex.Cmd, "the stream is not for a terminal: %s", "vfsctl git export main | git fast-import")
	}
	return nil
}

// refs finds the trees, and the names that they get in git.
func (ex *gitExporter) refs() (refs []git.Ref, err error) {
	if ex.all {
		list, err := ex.FS.Store().Branches(ex)
		if err != nil {
			return nil, err
		}
		for _, b := range list {
			if refs, err = ex.add(refs, b.Name); err != nil {
				return nil, err
			}
		}
		return refs, nil
	}
	return ex.add(nil, ex.Arg(0, cmp.Or(ex.At, ex.FS.Head())))
}

// add adds a tree.
func (ex *gitExporter) add(refs []git.Ref, ref string) ([]git.Ref, error) {
	tree, err := ex.Tree(ex, ex.FS, ref)
	if err != nil {
		return nil, err
	}
	name := ref
	if s, is := tree.(*snapshot.Snapshot); is {
		name = s.Info.Name
	}
	if name = cmp.Or(ex.ref, name); !strings.HasPrefix(name, "refs/") {
		name = "refs/heads/" + name
	}
	if err := git.CheckRef(name); err != nil {
		return nil, cli.BadFlag(ex.Cmd, "ref", fmt.Errorf("%w: --ref gives it another name", err))
	}
	return append(refs, git.Ref{Name: name, Tree: tree}), nil
}

// refuseConflicts refuses a tree with files in conflict, since a commit does not show that they are.
func (ex *gitExporter) refuseConflicts(fsys *vfs.FS) error {
	if ex.conflicts {
		return nil
	}
	list, err := merge.Conflicts(ex, fsys)
	if err != nil {
		return err
	}
	var refused error
	for _, c := range list {
		refused = refuseConflict(ex.App, c.Path)
	}
	return refused
}
