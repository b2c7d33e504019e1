package history

import (
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

func diffCommand(a *cli.App) *cobra.Command {
	var stat, names bool
	cmd := &cobra.Command{
		Use:   "diff A [B]",
		Short: "Compare two trees",
		Long: `Show what differs from A to B, one line per path. Each is a snapshot, a branch, or branch@snapshot;
without B, A is compared with the present state of the branch. The time depends on the number of changes, not
on the size of the trees. If the trees differ, the exit code is 1.

  A  added     M  modified   m  mode, owner or attributes changed
  D  removed   T  now of another type   R  renamed: old -> new`,
		Example: `  vfsctl diff before-refactor
  vfsctl diff main attempt-2 --stat
  vfsctl diff main@v1 v2 --json | jq -r 'select(.kind == "modified") | .path'`,
		Args:              cli.Args(1, 2),
		ValidArgsFunction: a.CompleteTrees,
		RunE: a.OnTrees(func(c *cli.Call) error {
			if err := cli.Exclusive(c.Cmd, "stat", "name-only"); err != nil {
				return err
			}

			from, err := a.Tree(c, c.FS, c.Args[0])
			if err != nil {
				return err
			}
			var to snapshot.Tree = c.FS
			if len(c.Args) == 2 {
				if to, err = a.Tree(c, c.FS, c.Args[1]); err != nil {
					return err
				}
			}

			changes := snapshot.Diff(c, from, to)
			var n int64
			if stat {
				n, err = diffStat(a, changes)
			} else {
				n, err = diffLines(a, changes, names)
			}
			if err != nil || n == 0 {
				return err
			}
			return cli.ExitFailed
		}),
	}

	cmd.Flags().BoolVar(&stat, "stat", false, "only the number of paths that differ, by kind")
	cmd.Flags().BoolVar(&names, "name-only", false, "only the paths that differ")
	a.Print0(cmd)
	return cmd
}

// letters are the letters of changes, with their styles.
var letters = map[snapshot.Kind]struct {
	letter string
	style  term.Style
}{
	snapshot.Added:    {"A", term.Green},
	snapshot.Removed:  {"D", term.Red},
	snapshot.Modified: {"M", term.Yellow},
	snapshot.Type:     {"T", term.Yellow},
	snapshot.Mode:     {"m", term.Yellow},
	snapshot.Renamed:  {"R", term.Cyan},
}

// diffLines prints the changes, or only their paths, and returns their number.
func diffLines(a *cli.App, changes iter.Seq2[snapshot.Change, error], names bool) (n int64, err error) {
	for c, err := range changes {
		if err != nil {
			return n, err
		}
		n++
		switch {
		case a.JSON:
			err = a.Out.JSON(newChangeJSON(c))
		case names:
			err = a.Out.Line(a.Out.Name(c.Path))
		default:
			err = a.Out.Line(ChangeLine(a.Out, c))
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// ChangeLine returns the line of a change.
func ChangeLine(o *term.Output, c snapshot.Change) string {
	info := c.New
	if info == nil {
		info = c.Old
	}
	if c.Kind == snapshot.Renamed {
		return Line(o, c.Kind, c.From, info.IsDir()) + " -> " + slashed(o, c.Path, info.IsDir())
	}
	return Line(o, c.Kind, c.Path, info.IsDir())
}

// Line returns the line of a change: its letter, and the path.
func Line(o *term.Output, kind snapshot.Kind, path string, dir bool) string {
	l := letters[kind]
	return o.Paint(l.style, l.letter) + " " + slashed(o, path, dir)
}

// slashed returns a path as a line shows it, with a slash behind that of a directory.
func slashed(o *term.Output, path string, dir bool) string {
	if dir {
		return o.Name(path) + "/"
	}
	return o.Name(path)
}

// A changeJSON is a change as JSON shows it.
type changeJSON struct {
	Kind       string     `json:"kind"`
	Path       string     `json:"path"`
	Base64     string     `json:"path_base64,omitempty"`
	From       string     `json:"from,omitempty"`
	FromBase64 string     `json:"from_base64,omitempty"`
	Old        *cli.Entry `json:"old,omitempty"`
	New        *cli.Entry `json:"new,omitempty"`
}

func newChangeJSON(c snapshot.Change) changeJSON {
	side := func(name string, info *vfs.Info) *cli.Entry {
		if info == nil {
			return nil
		}
		e := cli.NewEntry(name, info)
		return &e
	}
	was := c.Path
	if c.From != "" {
		was = c.From
	}
	return changeJSON{
		Kind: string(c.Kind), Path: c.Path, Base64: human.Base64(c.Path), From: c.From, FromBase64: human.Base64(c.From),
		Old: side(was, c.Old), New: side(c.Path, c.New),
	}
}

// A changeCount holds the number of paths that differ, by kind.
type changeCount struct {
	Added    int64 `json:"added"`
	Removed  int64 `json:"removed"`
	Modified int64 `json:"modified"`
	Type     int64 `json:"type"`
	Mode     int64 `json:"mode"`
	Renamed  int64 `json:"renamed"`
}

// CountChanges counts the changes by kind.
func CountChanges(changes iter.Seq2[snapshot.Change, error]) (n changeCount, err error) {
	counters := map[snapshot.Kind]*int64{
		snapshot.Added: &n.Added, snapshot.Removed: &n.Removed, snapshot.Modified: &n.Modified,
		snapshot.Type: &n.Type, snapshot.Mode: &n.Mode, snapshot.Renamed: &n.Renamed,
	}
	for c, err := range changes {
		if err != nil {
			return n, err
		}
		*counters[c.Kind]++
	}
	return n, nil
}

func (n changeCount) total() int64 {
	return n.Added + n.Removed + n.Modified + n.Type + n.Mode + n.Renamed
}

func (n changeCount) String() string {
	var parts []string
	for _, p := range []struct {
		n    int64
		word string
	}{{n.Added, "added"}, {n.Modified, "modified"}, {n.Renamed, "renamed"}, {n.Mode, "with another mode"}, {n.Type, "of another type"}, {n.Removed, "removed"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", human.Comma(p.n), p.word))
		}
	}
	if len(parts) == 0 {
		return "no changes"
	}
	return strings.Join(parts, ", ")
}

// diffStat prints the number of changes of each kind, and returns their sum.
func diffStat(a *cli.App, changes iter.Seq2[snapshot.Change, error]) (int64, error) {
	n, err := CountChanges(changes)
	if err != nil {
		return 0, err
	}
	if a.JSON {
		return n.total(), a.Out.JSON(n)
	}
	return n.total(), a.Out.Printf("%s\n", n)
}
