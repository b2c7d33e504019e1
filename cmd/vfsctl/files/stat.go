package files

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/vfs"
)

func statCommand(a *cli.App) *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:   "stat [REF:]PATH...",
		Short: "Show the metadata of files",
		Long: `Show all there is to know about files. The sum is the content's address: equal sums,
equal bytes. Up to 512 KiB it is what b3sum prints. REF: is the tree that has the file, see help refs.`,
		Example: `  vfsctl stat notes/todo.md
  vfsctl stat -L latest
  vfsctl stat before:main.go main.go
  vfsctl stat --json notes/todo.md | jq -r .sum`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: a.CompletePaths,
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			return a.Each(c, c.Args, func(name string) error { return statOne(a, c, name, follow) })
		}),
	}
	cmd.Flags().BoolVarP(&follow, "dereference", "L", false, "follow a symlink")
	return cmd
}

// statOne shows one file. Its attributes and its sum are of one moment.
func statOne(a *cli.App, c *cli.Call, arg string, follow bool) error {
	c, name, err := c.Of(arg)
	if err != nil {
		return err
	}
	var e cli.Entry
	var mode string
	err = c.FS.View(c, func(tx *vfs.Tx) error {
		look := tx.Lstat
		if follow {
			look = tx.Stat
		}
		info, err := look(name)
		if err != nil {
			return err
		}

		e, mode = cli.NewEntry(cli.Rooted(name), info), human.Mode(info.Mode())
		if !info.Mode().IsRegular() {
			return nil
		}
		sum, err := tx.Sum(name)
		e.Sum = sum.String()
		return err
	})
	if err != nil {
		return err
	}
	if a.JSON {
		return a.Out.JSON(e)
	}

	exactly := func(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05.000000000 -0700") }
	device := ""
	if e.Type == "device" {
		device = strconv.FormatUint(e.Device, 10)
	}
	return a.Out.Fields([][2]string{
		{"path", a.Out.Name(e.Path)},
		{"type", e.Type},
		{"target", a.Out.Name(e.Target)},
		{"size", fmt.Sprintf("%s (%s bytes)", human.Size(e.Size), human.Comma(e.Size))},
		{"mode", mode + " (" + e.Mode + ")"},
		{"owner", fmt.Sprintf("uid %d, gid %d", e.Uid, e.Gid)},
		{"links", strconv.Itoa(e.Links)},
		{"ino", strconv.FormatInt(e.Ino, 10)},
		{"device", device},
		{"modified", exactly(e.Modified)},
		{"changed", exactly(e.Changed)},
		{"created", exactly(e.Created)},
		{"sum", e.Sum},
		{"xattrs", a.Out.Name(strings.Join(e.Xattrs, " "))},
	}...)
}
