package files

import (
	"path"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/vfs"
)

func treeCommand(a *cli.App) *cobra.Command {
	t := &treePrinter{App: a}
	cmd := &cobra.Command{
		Use:   "tree [PATH]",
		Short: "Show a directory as a tree",
		Long:  "Show a directory and all that is below it as a tree, and count the entries.",
		Example: `  vfsctl tree
  vfsctl tree -L 2 src
  vfsctl --branch attempt-2 tree --json | jq -r .path`,
		Args:              cli.Args(0, 1),
		ValidArgsFunction: a.CompletePaths,
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			if t.depth < 0 {
				return cli.Usage(c.Cmd, "--level cannot be below 0")
			}
			t.Call = c
			return t.show(c.Arg(0, c.Dir))
		}),
	}

	cmd.Flags().IntVarP(&t.depth, "level", "L", 0, "show `N` levels; 0 is all")
	cmd.Flags().BoolVarP(&t.sizes, "sizes", "s", false, "show the sizes of files")
	return cmd
}

// A treePrinter is one run of tree.
type treePrinter struct {
	*cli.App
	*cli.Call
	depth       int
	sizes       bool
	dirs, files int64
}

// show prints the tree below top, and then how many directories and files it has.
func (t *treePrinter) show(top string) error {
	info, err := t.FS.Stat(t, top)
	if err != nil {
		return err
	}
	if t.JSON {
		if err := t.Out.JSON(cli.NewEntry(cli.Rooted(top), info)); err != nil {
			return err
		}
	} else if err := t.Out.Printf("%s\n", t.line(t.Shown(top), info)); err != nil {
		return err
	}

	if info.IsDir() {
		if err := t.below(top, "", 1); err != nil {
			return err
		}
	}
	if t.JSON {
		return nil
	}
	return t.Out.Printf("\n%s, %s\n", human.Plural(t.dirs, "directory", "directories"), human.Plural(t.files, "file", "files"))
}

// below prints the entries of a directory, each before what is below it.
func (t *treePrinter) below(dir, indent string, level int) error {
	if t.depth > 0 && level > t.depth {
		return nil
	}

	// The last entry is drawn in another way, so all are read first.
	var list []*vfs.Info
	for info, err := range cli.Entries(t, t.FS, dir) {
		if err != nil {
			return err
		}
		list = append(list, info)
	}

	for i, info := range list {
		twig, more := "├── ", "│   "
		if i == len(list)-1 {
			twig, more = "└── ", "    "
		}
		full := path.Join(dir, info.Name())
		if t.JSON {
			if err := t.Out.JSON(cli.NewEntry(cli.Rooted(full), info)); err != nil {
				return err
			}
		} else if err := t.Out.Printf("%s%s\n", t.Out.Paint(term.Dim, indent+twig), t.line(info.Name(), info)); err != nil {
			return err
		}

		if !info.IsDir() {
			t.files++
			continue
		}
		t.dirs++
		if err := t.below(full, indent+more, level+1); err != nil {
			return err
		}
	}
	return nil
}

// line returns the text of one entry.
func (t *treePrinter) line(name string, info *vfs.Info) string {
	shown := t.Out.Show(name, info.Mode())
	if target := info.Target(); target != "" {
		shown += " -> " + t.Out.Name(target)
	}
	if t.sizes && info.Mode().IsRegular() {
		shown += "  " + t.Out.Paint(term.Dim, human.Size(info.Size()))
	}
	return shown
}
