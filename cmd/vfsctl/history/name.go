package history

import (
	"context"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/vfs"
)

// A nameJSON is the name of a snapshot or a branch as JSON shows it.
type nameJSON struct {
	Name string `json:"name"`
}

// deleteEach makes the body of a command that deletes the things that its arguments name. The argument what is
// "snapshot" or "branch".
func deleteEach(a *cli.App, what string, remove func(ctx context.Context, fsys *vfs.FS, name string) error) func(*cobra.Command, []string) error {
	return a.OnStore(cli.Writes, func(c *cli.Call) error {
		return a.Each(c, c.Args, func(name string) error {
			if err := remove(c, c.FS, name); err != nil || !a.JSON {
				return cli.NoTree(c, c.FS, what, name, err)
			}
			return a.Out.JSON(nameJSON{name})
		})
	})
}
