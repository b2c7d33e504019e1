package files

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/snapshot"
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
			var sources []original
			for _, arg := range c.Args[:len(c.Args)-1] {
				if err := notPast(c, arg); err != nil {
					return err
				}
				sources = append(sources, original{name: arg})
			}

			return transplant(a, c, sources, keep, parents, (*vfs.Tx).Rename)
		}),
	}
	addTransplantFlags(cmd, &keep, &parents)
	return cmd
}

// notPast refuses REF:PATH, unless a file has that very name.
func notPast(c *cli.Call, arg string) error {
	if _, err := c.FS.Lstat(c, arg); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, name, err := c.Of(arg); err != nil || name == arg {
		return err
	}
	return &cli.UsageError{
		Err:  &fs.PathError{Op: "mv", Path: arg, Err: errors.New("only files of the branch itself move")},
		Try:  c.Cmd.Root().Name() + " cp " + human.CommandLine(arg, c.Args[len(c.Args)-1]),
		Hint: "restore brings a file back to its own path",
	}
}

func addTransplantFlags(cmd *cobra.Command, keep, parents *bool) {
	cmd.Flags().BoolVarP(keep, "no-replace", "n", false, "fail where the new name exists")
	cmd.Flags().BoolVarP(parents, "parents", "p", false, "make missing directories above TO")
}

// An original is an argument that is moved or copied.
type original struct {
	name string
	tree snapshot.Tree // nil: the tree of the command
	dir  bool          // of another tree: it is a directory
}

// transplant moves or copies sources to the last argument, in one commit.
func transplant(a *cli.App, c *cli.Call, sources []original, keep, parents bool, verb func(tx *vfs.Tx, from, to string, opts ...vfs.Option) error) error {
	var opts []vfs.Option
	if keep {
		opts = append(opts, vfs.NoReplace())
	}
	if parents {
		opts = append(opts, vfs.Parents())
	}

	to := c.Args[len(sources)]
	return a.Update(c, func(tx *vfs.Tx) (made []string, err error) {
		info, err := tx.Stat(to)
		into := err == nil && info.IsDir()
		if len(sources) > 1 && !into {
			if err == nil {
				err = &fs.PathError{Op: c.Cmd.Name(), Path: to, Err: syscall.ENOTDIR}
			}
			return nil, err
		}

		for _, from := range sources {
			dest := to
			if into {
				dest = path.Join(to, path.Base(path.Clean("/"+from.name)))
			} else if strings.HasSuffix(to, "/") {
				if dir, err := from.isDir(tx); err != nil {
					return nil, err
				} else if !dir {
					return nil, &fs.PathError{Op: c.Cmd.Name(), Path: to, Err: syscall.ENOTDIR}
				}
			}

			if from.tree != nil {
				err = copyFrom(tx, from, dest, keep, parents)
			} else {
				err = verb(tx, from.name, dest, opts...)
			}
			if err != nil {
				return nil, err
			}
			made = append(made, dest)
		}
		return made, nil
	})
}

// isDir reports whether a source is a directory.
func (s original) isDir(tx *vfs.Tx) (bool, error) {
	if s.tree != nil {
		return s.dir, nil
	}
	info, err := tx.Lstat(s.name)
	return err == nil && info.IsDir(), err
}
