package main

import (
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"vfsdb/snapshot"
	"vfsdb/vfs"
)

func diffCommand(a *app) *cobra.Command {
	var stat, names bool
	cmd := &cobra.Command{
		Use:   "diff A [B]",
		Short: "Tell two trees apart",
		Long: `Tell what differs from A to B, one line per path. Each is a snapshot, a branch, or
branch@snapshot; B is the present state of the branch if it is left out. It takes as long as
there are changes, whatever the size of the trees. If they differ, the exit code is 1.

  A  added     M  modified   m  mode or owner changed
  D  removed   T  now of another type   R  renamed: old -> new`,
		Example: `  vfsctl diff before-refactor
  vfsctl diff main attempt-2 --stat
  vfsctl diff main@v1 v2 --json | jq -r 'select(.kind == "modified") | .path'`,
		Args:              args(1, 2),
		ValidArgsFunction: a.completeTrees,
		RunE: a.on(reads, func(c *call) error {
			if err := exclusive(c.cmd, "stat", "name-only"); err != nil {
				return err
			}
			from, err := a.named(c, c.fsys, c.args[0])
			if err != nil {
				return err
			}
			var to snapshot.Tree = c.fsys
			if len(c.args) == 2 {
				if to, err = a.named(c, c.fsys, c.args[1]); err != nil {
					return err
				}
			}
			changes := snapshot.Diff(c, from, to)
			var n int64
			if stat {
				n, err = a.diffStat(changes)
			} else {
				n, err = a.diffLines(changes, names)
			}
			if err != nil || n == 0 {
				return err
			}
			return exitFailed
		}),
	}
	cmd.Flags().BoolVar(&stat, "stat", false, "only how many paths differ, and how")
	cmd.Flags().BoolVar(&names, "name-only", false, "only the paths that differ")
	a.print0(cmd)
	return cmd
}

// letters are how a change looks in a line.
var letters = map[snapshot.Kind]struct {
	letter string
	style  style
}{
	snapshot.Added:    {"A", green},
	snapshot.Removed:  {"D", red},
	snapshot.Modified: {"M", yellow},
	snapshot.Type:     {"T", yellow},
	snapshot.Mode:     {"m", yellow},
	snapshot.Renamed:  {"R", cyan},
}

// diffLines prints the changes, or only their paths, and returns how many there are.
func (a *app) diffLines(changes iter.Seq2[snapshot.Change, error], names bool) (n int64, err error) {
	for c, err := range changes {
		if err != nil {
			return n, err
		}
		n++
		switch {
		case a.json:
			err = a.out.json(newChangeJSON(c))
		case names:
			err = a.out.line(a.out.name(c.Path))
		default:
			err = a.out.line(a.out.change(c))
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// change is the line of a change.
func (o *output) change(c snapshot.Change) string {
	info := c.New
	if info == nil {
		info = c.Old
	}
	named := func(name string) string {
		name = o.name(name)
		if info.IsDir() {
			name += "/"
		}
		return name
	}
	l := letters[c.Kind]
	line := o.paint(l.style, l.letter) + " "
	if c.Kind == snapshot.Renamed {
		return line + named(c.From) + " -> " + named(c.Path)
	}
	return line + named(c.Path)
}

// A changeJSON is a change as JSON shows it.
type changeJSON struct {
	Kind       string `json:"kind"`
	Path       string `json:"path"`
	Base64     string `json:"path_base64,omitempty"`
	From       string `json:"from,omitempty"`
	FromBase64 string `json:"from_base64,omitempty"`
	Old        *entry `json:"old,omitempty"`
	New        *entry `json:"new,omitempty"`
}

func newChangeJSON(c snapshot.Change) changeJSON {
	side := func(name string, info *vfs.Info) *entry {
		if info == nil {
			return nil
		}
		e := newEntry(name, info)
		return &e
	}
	was := c.Path
	if c.From != "" {
		was = c.From
	}
	return changeJSON{
		Kind: string(c.Kind), Path: c.Path, Base64: base64Name(c.Path), From: c.From, FromBase64: base64Name(c.From),
		Old: side(was, c.Old), New: side(c.Path, c.New),
	}
}

// A changeCount says how many paths differ, by kind.
type changeCount struct {
	Added    int64 `json:"added"`
	Removed  int64 `json:"removed"`
	Modified int64 `json:"modified"`
	Type     int64 `json:"type"`
	Mode     int64 `json:"mode"`
	Renamed  int64 `json:"renamed"`
}

func countChanges(changes iter.Seq2[snapshot.Change, error]) (n changeCount, err error) {
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
			parts = append(parts, fmt.Sprintf("%s %s", comma(p.n), p.word))
		}
	}
	if len(parts) == 0 {
		return "no changes"
	}
	return strings.Join(parts, ", ")
}

// diffStat prints how many changes there are of each kind, and returns their number.
func (a *app) diffStat(changes iter.Seq2[snapshot.Change, error]) (int64, error) {
	n, err := countChanges(changes)
	if err != nil {
		return 0, err
	}
	if a.json {
		return n.total(), a.out.json(n)
	}
	return n.total(), a.out.printf("%s\n", n)
}
