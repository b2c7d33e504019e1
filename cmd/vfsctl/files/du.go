package files

import (
	"path"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/search"
)

func duCommand(a *cli.App) *cobra.Command {
	var total bool
	cmd := &cobra.Command{
		Use:   "du [PATH...]",
		Short: "Show the size of directories",
		Long: `Show the total size of the files in and below each directory of PATH, and of PATH itself. A
file with several names counts once. Shared content takes less
space on disk; df shows how much.`,
		Example: `  vfsctl du
  vfsctl du -s src docs
  vfsctl du --json | jq 'select(.bytes > 1e6)'`,
		Args:              cli.Args(0, -1),
		ValidArgsFunction: a.CompletePaths,
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			paths := c.Args
			if len(paths) == 0 {
				paths = []string{c.Dir}
			}

			var t term.Table
			err := a.Each(c, paths, func(name string) error { return diskUsage(a, c, &t, name, total) })
			if printed := t.Print(a.Out); err == nil {
				err = printed
			}
			return err
		}),
	}
	cmd.Flags().BoolVarP(&total, "summarize", "s", false, "only the totals")
	return cmd
}

// diskUsage adds the rows of one argument: the directories in it, then itself.
func diskUsage(a *cli.App, c *cli.Call, t *term.Table, name string, total bool) error {
	info, err := c.FS.Stat(c, name)
	if err != nil {
		return err
	}

	var names []string
	if info.IsDir() && !total {
		for child, err := range cli.Entries(c, c.FS, name) {
			if err != nil {
				return err
			}
			if child.IsDir() {
				names = append(names, path.Join(name, child.Name()))
			}
		}
	}

	for _, name := range append(names, name) {
		u, err := search.Usage(c, c.FS, name)
		if err != nil {
			return err
		}
		if err := addUsage(a, t, cli.Rooted(name), u); err != nil {
			return err
		}
	}
	return nil
}

func addUsage(a *cli.App, t *term.Table, name string, u search.Totals) error {
	if !a.JSON {
		t.Row(term.Cell{Text: human.Size(u.Bytes), Right: true}, term.Cell{Text: human.Plural(u.Files, "file", "files"), Right: true, Style: term.Dim}, term.Cell{Text: a.Out.Name(a.Shown(name))})
		return nil
	}
	return a.Out.JSON(struct {
		cli.Path
		Bytes int64 `json:"bytes"`
		Files int64 `json:"files"`
		Dirs  int64 `json:"directories"`
		Links int64 `json:"symlinks"`
	}{cli.NewPath(name), u.Bytes, u.Files, u.Dirs, u.Symlinks})
}
