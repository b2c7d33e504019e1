package exchange

import (
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/git"
)

func gitImport(a *cli.App) *cobra.Command {
	im := &gitImporter{App: a}
	cmd := &cobra.Command{
		Use:   "import REPO [COMMIT]",
		Short: "Make a branch from a commit of a repository",
		Long: `Make a branch from a commit of the repository REPO: a branch, a tag or an id of git, by default HEAD. The
branch of the database has the name that --branch gives, or that of the git branch. It must be new or empty. A
snapshot names the state of the commit; its note has the message and the author.

With --history each commit is a snapshot, from the first one to COMMIT; of a merge the first parent is followed. The
log has their authors, so blame shows who wrote a line.

The program git reads the repository. It runs no hook, and no program that the configuration of the repository
names. - as REPO reads a stream of git fast-export from standard input, which has to be one line of commits.

The branch is there when all of it is. Submodules, and names that git itself would not check out, are left out
and named (exit code 3). If the database does not exist, it is created.`,
		Example: `  vfsctl git import ~/project
  vfsctl git import ~/project v1.2 --branch old --history
  git fast-export --use-done-feature --first-parent main |
    vfsctl git import - --branch main`,
		Args:              cli.Args(1, 2),
		ValidArgsFunction: cli.CompleteArgs(nil, cli.CompleteNothing),
		RunE:              a.WithSource(im.check, im.on),
	}

	cmd.Flags().BoolVar(&im.o.History, "history", false, "make a snapshot of each commit")
	return cmd
}

// A gitImporter is one run of git import.
type gitImporter struct {
	*cli.App
	*cli.Call
	o git.ImportOptions
}

// check refuses flags and arguments that do not go together.
func (im *gitImporter) check(cmd *cobra.Command) error {
	if im.At != "" {
		return cli.Usage(cmd, "git import makes a branch, and --at is a tree that cannot change")
	}
	if cmd.Flags().Arg(0) == "-" && cmd.Flags().NArg() > 1 {
		return cli.Usage(cmd, "a stream on standard input has its commits, and takes no COMMIT")
	}
	return nil
}

// on opens the database on main: the branch that --branch names need not exist.
func (im *gitImporter) on(cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed("branch") {
		im.o.Branch = im.Branch
	}
	im.NoBranch()
	im.SayAbove()
	return im.On(cli.Creates, im.run)(cmd, args)
}

func (im *gitImporter) run(c *cli.Call) error {
	im.Call = c
	start := time.Now()
	bar := im.Progress(im, "import", 0)
	im.o.Progress = func(commits, bytes int64) { bar.At(bytes, "  "+human.Plural(commits, "commit", "commits")) }
	report, err := im.read(c.Args[0], c.Arg(1, "HEAD"))
	bar.End()
	if err != nil {
		return err
	}

	if im.JSON {
		err = im.Out.JSON(newGitJSON(report))
	} else {
		err = im.Errs.Printf("imported %s into branch %s in %s; its snapshot is %s\n", gitContents(report), report.Branch, human.Took(time.Since(start)), report.Snapshot)
	}
	if err != nil {
		return err
	}
	return reportLost(im.App, report)
}

// read takes in the source: a repository, or a stream on standard input.
func (im *gitImporter) read(repo, rev string) (*git.Report, error) {
	if repo != "-" {
		return git.ImportRepo(im, im.FS, repo, rev, &im.o)
	}
	r := cli.Interruptible(im, im.In)
	defer r.Close()
	return git.Import(im, im.FS, r, &im.o)
}
