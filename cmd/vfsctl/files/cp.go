package files

import (
	"fmt"
	"io/fs"
	"syscall"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/vfs"
)

func cpCommand(a *cli.App) *cobra.Command {
	var keep, parents, recursive bool
	cmd := &cobra.Command{
		Use:   "cp FROM... TO",
		Short: "Copy files and directories",
		Long: `Copy files, or with -r directories, to TO, or into it if that is a directory. The copies share
their content with the originals: no byte is written, whatever the size. Modes,
owners and times are kept. All are copied in one commit, or none.`,
		Example: `  vfsctl cp config.toml config.toml.orig
  vfsctl cp -r src src.before
  vfsctl cp -n a.txt b.txt backup`,
		Args:              cli.Args(2, -1),
		ValidArgsFunction: a.CompletePaths,
		RunE: a.On(cli.Writes, func(c *cli.Call) error {
			if recursive {
				return transplant(a, c, keep, parents, (*vfs.Tx).Copy)
			}
			return transplant(a, c, keep, parents, copyFile)
		}),
	}

	addTransplantFlags(cmd, &keep, &parents)
	cmd.Flags().BoolVarP(&recursive, "recursive", "r", false, "directories too, with all below")
	return cmd
}

// copyFile copies anything but a directory.
func copyFile(tx *vfs.Tx, from, to string, opts ...vfs.Option) error {
	if info, err := tx.Lstat(from); err == nil && info.IsDir() {
		return &fs.PathError{Op: "copy", Path: from, Err: fmt.Errorf("%w: -r copies directories", syscall.EISDIR)}
	}
	return tx.Copy(from, to, opts...)
}
