package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

func cpCommand(a *cli.App) *cobra.Command {
	var keep, parents, recursive bool
	cmd := &cobra.Command{
		Use:   "cp [REF:]FROM... TO",
		Short: "Copy files and directories",
		Long: `Copy files, or with -r directories, to TO, or into it if that is a directory. The copies share
their content with the originals: no byte is written, whatever the size. Modes,
owners and times are kept. All are copied in one commit, or none. REF: before FROM is the tree that has it, such
as a snapshot or main@{2 hours ago}: see help refs.`,
		Example: `  vfsctl cp config.toml config.toml.orig
  vfsctl cp -r src src.before
  vfsctl cp -n a.txt b.txt backup
  vfsctl cp before:main.go 'main@{2 hours ago}:go.mod' old`,
		Args:              cli.Args(2, -1),
		ValidArgsFunction: a.CompletePaths,
		RunE: a.On(cli.Writes, func(c *cli.Call) error {
			var sources []original
			for _, arg := range c.Args[:len(c.Args)-1] {
				from, err := findSource(c, arg, recursive)
				if err != nil {
					return err
				}
				sources = append(sources, from)
			}
			if recursive {
				return transplant(a, c, sources, keep, parents, (*vfs.Tx).Copy)
			}
			return transplant(a, c, sources, keep, parents, copyFile)
		}),
	}

	addTransplantFlags(cmd, &keep, &parents)
	cmd.Flags().BoolVarP(&recursive, "recursive", "r", false, "directories too, with all below")
	return cmd
}

// findSource finds what an argument names, in the tree of the command or in another one.
func findSource(c *cli.Call, arg string, recursive bool) (original, error) {
	tree, name, err := c.Find(arg)
	if err != nil || name == arg {
		return original{name: arg}, err
	}
	info, err := tree.Tree().Lstat(c, name)
	var missing *fs.PathError
	if errors.As(err, &missing) {
		err = &fs.PathError{Op: "copy", Path: arg, Err: missing.Err}
	}
	if err != nil {
		return original{}, err
	}
	if info.IsDir() && !recursive {
		return original{}, errNotRecursive(arg)
	}
	return original{name, tree, info.IsDir()}, nil
}

// copyFrom copies from another tree.
func copyFrom(tx *vfs.Tx, from original, to string, keep, parents bool) error {
	if _, err := tx.Lstat(to); keep && err == nil {
		return &os.LinkError{Op: "copy", Old: from.name, New: to, Err: syscall.EEXIST}
	}
	if parents {
		if err := tx.MkdirAll(path.Dir(path.Clean("/"+to)), 0o755); err != nil {
			return err
		}
	}
	return snapshot.CopyIn(tx, from.tree, from.name, to)
}

// errNotRecursive is the error of a directory that is copied without -r.
func errNotRecursive(name string) error {
	return &fs.PathError{Op: "copy", Path: name, Err: fmt.Errorf("%w: -r copies directories", syscall.EISDIR)}
}

// copyFile copies anything but a directory.
func copyFile(tx *vfs.Tx, from, to string, opts ...vfs.Option) error {
	if info, err := tx.Lstat(from); err == nil && info.IsDir() {
		return errNotRecursive(from)
	}
	return tx.Copy(from, to, opts...)
}
