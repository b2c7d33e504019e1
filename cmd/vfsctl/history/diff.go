package history

import (
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/patch"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

func diffCommand(a *cli.App) *cobra.Command {
	d := &differ{patcher: patcher{App: a}}
	cmd := &cobra.Command{
		Use:   "diff [A] [B] [PATH...]",
		Short: "Compare two trees",
		Long: `Show what differs from A to B, one line per path. Each is a REF, such as a snapshot, a branch or
main@{2 hours ago}: see help refs. Without B, A is compared with the present state of the branch, and without A it is
what has changed since the last snapshot of the branch, or if it has none since its fork. With PATHs, show only what is
there and below, as REF:PATH does for one; A:PATH B:OTHER compares two files. After --, all arguments are PATHs. The time depends on the number of changes,
not on the size of the trees. If the trees differ, the exit code is 1.

  A  added     M  modified   m  mode, owner or attributes changed
  D  removed   T  now of another type   R  renamed: old -> new

A directory that came or went is one line, also of --stat, unless -r asks for all that is below.

With -p, print a patch, which git apply and patch -p1 take. A file that was renamed is known by its identity. What
git has no word for, such as empty directories and owners, stands in comments. --stat, --word, --binary and -U are
as in git diff. On a terminal they have colours, unless NO_COLOR is set, and the pager $PAGER, or less.`,
		Example: `  vfsctl diff before-refactor
  vfsctl diff -p main attempt-2 src
  vfsctl diff --stat
  vfsctl diff -p 'main@{-3}:src/main.go'
  vfsctl diff -p --binary v1 v2 | git apply
  vfsctl diff main@v1 v2 --json | jq -r 'select(.kind == "modified") | .path'`,
		Args:              cli.Args(0, -1),
		ValidArgsFunction: cli.CompleteArgs(a.CompleteTreesAndPaths, a.CompleteTreesAndPaths, a.CompletePaths),
		RunE: a.OnTrees(2, func(c *cli.Call) error {
			d.Call = c
			return d.run()
		}),
	}

	cmd.Flags().BoolVarP(&d.patch, "patch", "p", false, "print a patch, as git diff does")
	cmd.Flags().BoolVar(&d.names, "name-only", false, "only the paths that differ")
	cmd.Flags().BoolVarP(&d.all, "recursive", "r", false, "all paths below directories that came or went")
	d.flags(cmd)
	a.Print0(cmd)
	return cmd
}

// A differ is one run of diff.
type differ struct {
	patcher
	*cli.Call
	patch, names, all bool
	two               *pair // the files of REF:PATH REF:PATH, if they have different names
}

func (d *differ) run() error {
	if err := cli.Exclusive(d.Cmd, "stat", "name-only", "patch"); err != nil {
		return err
	}
	if err := d.check(d.Cmd); err != nil {
		return err
	}
	d.patch = d.patch || d.asked(d.Cmd)
	if d.patch && d.names {
		return cli.Usage(d.Cmd, "--name-only has no lines: it excludes --word, --binary and --unified")
	}

	from, to, err := d.trees()
	if err != nil {
		return err
	}
	n := 0
	switch {
	case d.two != nil:
		n, err = d.pairs(from, to)
	case d.stat && d.JSON:
		n, err = d.countJSON(from, to)
	case d.patch, d.stat:
		if d.stat && !d.all {
			if d.tops, err = d.findTops(from, to); err != nil {
				return err
			}
		}
		err = paged(d.App, func() (err error) {
			n, err = d.print(patch.Files(d, from, to, d.options()))
			return err
		})
	default:
		n, err = d.lines(from, to)
	}
	if err != nil || n == 0 {
		return err
	}
	return cli.ExitFailed
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

// lines prints the changes, or only their paths, and returns their number.
func (d *differ) lines(from, to snapshot.Tree) (n int, err error) {
	find := snapshot.Diff
	if d.JSON {
		find = snapshot.DiffSums
	}
	var list []snapshot.Change
	below := patch.Below(d.o.Paths)
	for c, err := range find(d, from, to) {
		if err != nil {
			return n, err
		}
		if below(c.Path) || c.From != "" && below(c.From) {
			list = append(list, c)
		}
	}

	hidden := map[string]int{} // how many lines of directories are left out
	if !d.JSON && !d.names && !d.all {
		list, hidden = folded(list)
	}
	for _, c := range list {
		switch {
		case d.JSON:
			err = d.Out.JSON(newChangeJSON(c))
		case d.names:
			err = d.Out.Line(d.Out.Name(c.Path))
		default:
			line := ChangeLine(d.Out, c)
			if n := hidden[c.Path]; n > 0 {
				line += d.Out.Paint(term.Dim, fmt.Sprintf("  and %s below", human.Comma(int64(n))))
			}
			err = d.Out.Line(line)
		}
		if err != nil {
			return len(list), err
		}
	}
	return len(list), nil
}

// folded leaves out what came or went with a directory above it, and counts that by directory.
func folded(list []snapshot.Change) (kept []snapshot.Change, hidden map[string]int) {
	t := make(tops)
	for _, c := range list {
		t.add(c)
	}
	hidden = make(map[string]int)
	for _, c := range list {
		if top := t.above(c.Path, c.Kind); top != "" {
			hidden[top]++
		} else {
			kept = append(kept, c)
		}
	}
	return kept, hidden
}

// tops are the directories that came or went.
type tops map[string]snapshot.Kind

func (t tops) add(c snapshot.Change) {
	if c.Kind == snapshot.Added && c.New.IsDir() || c.Kind == snapshot.Removed && c.Old.IsDir() {
		t[c.Path] = c.Kind
	}
}

// above returns the highest directory with which something at a path came or went, or "".
func (t tops) above(path string, kind snapshot.Kind) string {
	for i := range len(path) {
		if path[i] == '/' && t[path[:i]] == kind {
			return path[:i]
		}
	}
	return ""
}

// findTops finds the directories that came or went.
func (d *differ) findTops(from, to snapshot.Tree) (tops, error) {
	t := make(tops)
	for c, err := range snapshot.Diff(d, from, to) {
		if err != nil {
			return nil, err
		}
		t.add(c)
	}
	return t, nil
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
	side := func(name string, info *vfs.Info, sum *vfs.Sum) *cli.Entry {
		if info == nil {
			return nil
		}
		e := cli.NewEntry(name, info)
		if sum != nil {
			e.Sum = sum.String()
		}
		return &e
	}
	was := c.Path
	if c.From != "" {
		was = c.From
	}
	return changeJSON{
		Kind: string(c.Kind), Path: c.Path, Base64: human.Base64(c.Path), From: c.From, FromBase64: human.Base64(c.From),
		Old: side(was, c.Old, c.OldSum), New: side(c.Path, c.New, c.NewSum),
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

// A statJSON counts changes by kind and by line.
type statJSON struct {
	changeCount
	Insertions int        `json:"insertions"`
	Deletions  int        `json:"deletions"`
	Files      []fileJSON `json:"files"`
}

// countJSON prints the counts of changes, and of the lines of each file.
func (d *differ) countJSON(from, to snapshot.Tree) (int, error) {
	below := patch.Below(d.o.Paths)
	out := statJSON{Files: []fileJSON{}}

	var err error
	out.changeCount, err = CountChanges(func(yield func(snapshot.Change, error) bool) {
		for c, err := range snapshot.Diff(d, from, to) {
			if (err != nil || below(c.Path) || c.From != "" && below(c.From)) && !yield(c, err) {
				return
			}
		}
	})
	if err != nil {
		return 0, err
	}
	for f, err := range patch.Files(d, from, to, d.options()) {
		if err != nil {
			return 0, err
		}
		out.Insertions, out.Deletions = out.Insertions+f.Added, out.Deletions+f.Removed
		out.Files = append(out.Files, d.newFileJSON(&f))
	}
	return int(out.total()), d.Out.JSON(out)
}
