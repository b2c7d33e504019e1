package history

import (
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

func branchUpdate(a *cli.App) *cobra.Command {
	m := &merger{App: a}
	var from string
	cmd := &cobra.Command{
		Use:   "update NAME",
		Short: "Bring what its base has changed into a branch",
		Long: `Merge into a branch what the branch that it was forked from has changed since, or what --from names has. See
merge for what that does, for conflicts, and for the exit code.`,
		Example: `  vfsctl branch update attempt-2
  vfsctl branch update attempt-2 --from attempt-1`,
		Args:              cli.Args(1, 1),
		ValidArgsFunction: cli.CompleteArgs(a.CompleteBranches, cli.CompleteNothing),
		RunE: a.OnStore(cli.Writes, func(c *cli.Call) (err error) {
			m.Call, m.into = c, c.Args[0]
			if from == "" {
				if from, err = baseOf(c, m.into); err != nil {
					return err
				}
			}
			return m.run(from)
		}),
	}

	m.flags(cmd)
	cmd.Flags().StringVar(&from, "from", "", "merge `BRANCH`, or a snapshot, instead of the base")
	_ = cmd.RegisterFlagCompletionFunc("from", a.CompleteTrees)
	return cmd
}

// baseOf returns the branch from which another was forked.
func baseOf(c *cli.Call, branch string) (string, error) {
	list, err := c.FS.Store().Branches(c)
	if err != nil {
		return "", err
	}
	for _, b := range list {
		switch {
		case b.Name != branch:
		case b.Base == "":
			err := fmt.Errorf("%w: it was forked from no branch that is still there; --from names one", syscall.EINVAL)
			return "", &os.PathError{Op: "update", Path: branch, Err: err}
		default:
			return b.Base, nil
		}
	}
	return "", cli.NoTree(c, c.FS, "branch", branch, &os.PathError{Op: "update", Path: branch, Err: syscall.ENOENT})
}

func branchAdopt(a *cli.App) *cobra.Command {
	m := &merger{App: a}
	cmd := &cobra.Command{
		Use:   "adopt NAME",
		Short: "Bring what a branch has changed into the one it is for",
		Long: `Merge a branch into the one that --branch, $VFS_BRANCH or switch names, else into main. If that has not changed since
the fork, it becomes what the branch is. The branch stays: delete it when nothing more is to come of it. See
merge for what that does, for conflicts, and for the exit code.`,
		Example: `  vfsctl branch adopt attempt-2
  vfsctl branch adopt attempt-2 --dry-run`,
		Args:              cli.Args(1, 1),
		ValidArgsFunction: cli.CompleteArgs(a.CompleteBranches, cli.CompleteNothing),
		RunE: a.On(cli.Writes, func(c *cli.Call) error {
			m.Call = c
			return m.run(c.Args[0])
		}),
	}

	m.flags(cmd)
	return cmd
}
