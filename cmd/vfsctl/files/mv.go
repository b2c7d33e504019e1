package files

import (
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/vfs"
)

func mvCommand(a *cli.App) *cobra.Command {
	var keep, parents bool
	cmd := &cobra.Command{
		Use:   "mv FROM... TO",
		Short: "Move or rename files and directories",
		Long: `Move files or directories to TO, or into it if that is a directory. A file there is
replaced in one step. All are moved in one commit, or none.`,
		Example: `  vfsctl mv draft.md final.md
  vfsctl mv a.txt b.txt archive
  vfsctl mv -n new.md old.md`,
		Args:              cli.Args(2, -1),
		ValidArgsFunction: a.CompletePaths,
		RunE: a.On(cli.Writes, func(c *cli.Call) error {
			return transplant(a, c, keep, parents, (*vfs.Tx).Rename)
		}),
	}
	addTransplantFlags(cmd, &keep, &parents)
	return cmd
}

func addTransplantFlags(cmd *cobra.Command, keep, parents *bool) {
	cmd.Flags().BoolVarP(keep, "no-replace", "n", false, "fail where the new name exists")
	cmd.Flags().BoolVarP(parents, "parents", "p", false, "make missing directories above TO")
}

// transplant moves or copies all arguments but the last to the last one, in one commit.
func transplant(a *cli.App, c *cli.Call, keep, parents bool, verb func(tx *vfs.Tx, from, to string, opts ...vfs.Option) error) error {
	var opts []vfs.Option
	if keep {
		opts = append(opts, vfs.NoReplace())
	}
	if parents {
		opts = append(opts, vfs.Parents())
	}

	last := len(c.Args) - 1
	to := c.Args[last]
	return a.Update(c, func(tx *vfs.Tx) (made []string, err error) {
		info, err := tx.Stat(to)
		into := err == nil && info.IsDir()
		if last > 1 && !into {
			if err == nil {
				err = &fs.PathError{Op: c.Cmd.Name(), Path: to, Err: syscall.ENOTDIR}
			}
			return nil, err
		}

		for _, from := range c.Args[:last] {
			dest := to
			if into {
				dest = path.Join(to, path.Base(path.Clean("/"+from)))
			} else if strings.HasSuffix(to, "/") {
				if source, err := tx.Lstat(from); err != nil {
					return nil, err
				} else if !source.IsDir() {
					return nil, &fs.PathError{Op: c.Cmd.Name(), Path: to, Err: syscall.ENOTDIR}
				}
			}

			if err := verb(tx, from, dest, opts...); err != nil {
				return nil, err
			}
			made = append(made, dest)
		}
		return made, nil
	})
}
