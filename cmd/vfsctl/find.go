package main

import (
	"errors"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"vfsdb/vfs"
)

func findCommand(a *app) *cobra.Command {
	var kind string
	var most int
	cmd := &cobra.Command{
		Use:   "find [DIR] [PATTERN]",
		Short: "Find files by name",
		Long: `Find what is below DIR, and print its paths. PATTERN is a glob: * and ? stay within a
name, ** crosses directories, [a-z] and {a,b} work as in a shell. With a slash in it, it is
matched with the path below DIR, else with the name, at any depth.

A single argument is a pattern if it has one of *?[{ in it, else a directory.`,
		Example: `  vfsctl find '*.go'
  vfsctl find src '**/testdata/*.json'
  vfsctl find --type d --max 20
  vfsctl --at before find logs --json`,
		Args:              args(0, 2),
		ValidArgsFunction: completeArgs(a.completePaths, completeNothing),
		RunE: a.on(reads, func(c *call) error {
			dir, pattern := c.arg(0, "/"), c.arg(1, "")
			if len(c.args) == 1 && strings.ContainsAny(dir, "*?[{") {
				dir, pattern = "/", dir
			}
			o := &vfs.FindOptions{Pattern: pattern, MatchBase: !strings.Contains(pattern, "/"), Max: most}
			word, ok := findTypes[kind]
			if !ok {
				return usage(c.cmd, "--type is f (file), d (directory) or l (symlink), not %q", kind)
			}
			if most < 0 {
				return usage(c.cmd, "--max cannot be below 0")
			}
			o.Kind = word
			found, truncated, err := vfs.Find(c, c.fsys, dir, o)
			if errors.Is(err, syscall.EINVAL) && pattern != "" {
				return usage(c.cmd, "pattern %q: %w", pattern, err)
			}
			if err != nil {
				return err
			}
			for _, f := range found {
				if err := a.printFound(f); err != nil {
					return err
				}
			}
			if truncated {
				a.warn("stopped after %s, there are more", plural(int64(most), "result", "results"))
			}
			return nil
		}),
	}
	cmd.Flags().StringVarP(&kind, "type", "t", "", "only `TYPE`: f file, d directory, l symlink")
	cmd.Flags().IntVar(&most, "max", 0, "stop after `N` results; 0 is never")
	a.print0(cmd)
	return cmd
}

var findTypes = map[string]string{
	"": "", "f": "file", "file": "file", "d": "directory", "directory": "directory", "l": "symlink", "symlink": "symlink",
}

func (a *app) printFound(f vfs.Found) error {
	if a.json {
		return a.out.json(newEntry(f.Path, f.Info))
	}
	return a.out.line(a.out.paint(styleOf(f.Info.Mode()), a.out.name(f.Path)))
}
