package main

import (
	"path"
	"slices"

	"github.com/spf13/cobra"

	"vfsdb/vfs"
)

func treeCommand(a *app) *cobra.Command {
	t := &treePrinter{app: a}
	cmd := &cobra.Command{
		Use:   "tree [PATH]",
		Short: "Show a directory as a tree",
		Long:  "Show a directory and all that is below it as a tree, and count what there is.",
		Example: `  vfsctl tree
  vfsctl tree -L 2 src
  vfsctl --branch attempt-2 tree --json | jq -r .path`,
		Args:              args(0, 1),
		ValidArgsFunction: a.completePaths,
		RunE: a.on(reads, func(c *call) error {
			if t.depth < 0 {
				return usage(c.cmd, "--level cannot be below 0")
			}
			t.call = c
			return t.show(c.arg(0, "/"))
		}),
	}
	cmd.Flags().IntVarP(&t.depth, "level", "L", 0, "show `N` levels; 0 is all")
	cmd.Flags().BoolVarP(&t.sizes, "sizes", "s", false, "show the sizes of files")
	return cmd
}

// A treePrinter is one run of tree.
type treePrinter struct {
	*app
	*call
	depth       int
	sizes       bool
	dirs, files int64
}

func (t *treePrinter) show(top string) error {
	info, err := t.fsys.Stat(t, top)
	if err != nil {
		return err
	}
	if t.json {
		if err := t.out.json(newEntry(rooted(top), info)); err != nil {
			return err
		}
	} else if err := t.out.printf("%s\n", t.line(top, info)); err != nil {
		return err
	}
	if info.IsDir() {
		if err := t.below(top, "", 1); err != nil {
			return err
		}
	}
	if t.json {
		return nil
	}
	return t.out.printf("\n%s, %s\n", plural(t.dirs, "directory", "directories"), plural(t.files, "file", "files"))
}

// below prints the entries of a directory, each before what is below it.
func (t *treePrinter) below(dir, indent string, level int) error {
	if t.depth > 0 && level > t.depth {
		return nil
	}
	var list []*vfs.Info
	for info, err := range entries(t, t.fsys, dir) {
		if err != nil {
			return err
		}
		list = append(list, info)
	}
	list = slices.Clip(list)
	for i, info := range list {
		twig, more := "├── ", "│   "
		if i == len(list)-1 {
			twig, more = "└── ", "    "
		}
		full := path.Join(dir, info.Name())
		if t.json {
			if err := t.out.json(newEntry(rooted(full), info)); err != nil {
				return err
			}
		} else if err := t.out.printf("%s%s\n", t.out.paint(dim, indent+twig), t.line(info.Name(), info)); err != nil {
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

func (t *treePrinter) line(name string, info *vfs.Info) string {
	shown := t.out.show(name, info.Mode())
	if target := info.Target(); target != "" {
		shown += " -> " + t.out.name(target)
	}
	if t.sizes && info.Mode().IsRegular() {
		shown += "  " + t.out.paint(dim, size(info.Size()))
	}
	return shown
}
