package files

import (
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/vfs"
)

func chmodCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "chmod MODE PATH...",
		Short: "Change permissions",
		Long: `Change the 12 permission bits. MODE is octal, or changes such as u+x, go-w, a=r. All files are
changed in one commit, or none. A mode that begins with a minus sign comes after --.`,
		Example: `  vfsctl chmod 755 run.sh
  vfsctl chmod u+x,go-w run.sh tools/build.sh
  vfsctl chmod -- -w frozen.txt`,
		Args:              cli.Args(2, -1),
		ValidArgsFunction: cli.CompleteArgs(cli.CompleteNothing, a.CompletePaths),
		RunE:              a.On(cli.Writes, func(c *cli.Call) error { return chmod(a, c, c.Args[0], c.Args[1:]) }),
	}
}

func chmod(a *cli.App, c *cli.Call, text string, names []string) error {
	if _, err := human.ParseMode(text, 0); err != nil {
		return cli.Usage(c.Cmd, "%w", err)
	}

	return a.Update(c, func(tx *vfs.Tx) ([]string, error) {
		for _, name := range names {
			info, err := tx.Stat(name)
			if err != nil {
				return nil, err
			}
			mode, err := human.ParseMode(text, info.Mode())
			if err != nil {
				return nil, err
			}
			if err := tx.Chmod(name, mode); err != nil {
				return nil, err
			}
		}
		return names, nil
	})
}
