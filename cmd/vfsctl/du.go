package main

import (
	"path"

	"github.com/spf13/cobra"

	"vfsdb/vfs"
)

func duCommand(a *app) *cobra.Command {
	var total bool
	cmd := &cobra.Command{
		Use:   "du [PATH...]",
		Short: "Show how much directories hold",
		Long: `Show how many bytes of files each directory in PATH holds, with all below, and PATH itself. A
file with several names counts once. What the content takes on disk is less where it is
shared; df knows.`,
		Example: `  vfsctl du
  vfsctl du -s src docs
  vfsctl du --json | jq 'select(.bytes > 1e6)'`,
		Args:              args(0, -1),
		ValidArgsFunction: a.completePaths,
		RunE: a.on(reads, func(c *call) error {
			paths := c.args
			if len(paths) == 0 {
				paths = []string{"/"}
			}
			var t table
			err := a.each(c, paths, func(name string) error { return a.diskUsage(c, &t, name, total) })
			if printed := t.print(a.out); err == nil {
				err = printed
			}
			return err
		}),
	}
	cmd.Flags().BoolVarP(&total, "summarize", "s", false, "only the totals")
	return cmd
}

// diskUsage adds the rows of one argument: the directories in it, then itself.
func (a *app) diskUsage(c *call, t *table, name string, total bool) error {
	info, err := c.fsys.Stat(c, name)
	if err != nil {
		return err
	}
	names := []string{}
	if info.IsDir() && !total {
		for child, err := range entries(c, c.fsys, name) {
			if err != nil {
				return err
			}
			if child.IsDir() {
				names = append(names, path.Join(name, child.Name()))
			}
		}
	}
	for _, name := range append(names, name) {
		u, err := vfs.Usage(c, c.fsys, name)
		if err != nil {
			return err
		}
		if err := a.addUsage(t, rooted(name), u); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) addUsage(t *table, name string, u vfs.Totals) error {
	if !a.json {
		t.row(cell{text: size(u.Bytes), right: true}, cell{text: plural(u.Files, "file", "files"), right: true, style: dim}, cell{text: a.out.name(name)})
		return nil
	}
	return a.out.json(struct {
		Path   string `json:"path"`
		Base64 string `json:"path_base64,omitempty"`
		Bytes  int64  `json:"bytes"`
		Files  int64  `json:"files"`
		Dirs   int64  `json:"directories"`
		Links  int64  `json:"symlinks"`
	}{name, base64Name(name), u.Bytes, u.Files, u.Dirs, u.Symlinks})
}
