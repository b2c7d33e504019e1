package files

import (
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"syscall"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/search"
	"vfsdb/vfs"
)

func lsCommand(a *cli.App) *cobra.Command {
	l := &lister{App: a}
	cmd := &cobra.Command{
		Use:   "ls [[REF:]PATH...]",
		Short: "List directories",
		Long: `List the entries of directories, sorted by name as bytes; PATH may be a file too.
A pattern such as 'src/*.go' stands for the paths that it matches. Names that begin with a dot are not hidden.
REF: is the tree to list, see help refs; REF: alone is its root.`,
		Example: `  vfsctl ls
  vfsctl ls -l notes
  vfsctl ls -R before:src
  vfsctl ls -R --json | jq -r 'select(.size > 1e6) | .path'`,
		Args:              cli.Args(0, -1),
		ValidArgsFunction: a.CompletePaths,
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			l.Call = c
			if err := cli.Exclusive(c.Cmd, "long", "print0"); err != nil {
				return err
			}
			paths, err := l.expand(c.Args)
			if err != nil {
				return err
			}
			l.headings = len(paths) > 1 || l.recursive
			if l.headings && !l.itself {
				paths = l.filesFirst(paths)
			}
			return a.Each(c, paths, l.list)
		}),
	}

	cmd.Flags().BoolVarP(&l.long, "long", "l", false, "mode, links, owner, size and time too")
	cmd.Flags().BoolVarP(&l.recursive, "recursive", "R", false, "directories below too")
	cmd.Flags().BoolVarP(&l.itself, "directory", "d", false, "the directory itself, not its entries")
	a.Print0(cmd)

	cmd.Flags().BoolP("all", "a", false, "for habit's sake: nothing is hidden")
	_ = cmd.Flags().MarkHidden("all")
	return cmd
}

// expand returns the paths to list. Without arguments it is the root. A pattern that is no path itself is replaced by
// its matches, as a shell does on the host.
func (l *lister) expand(args []string) ([]string, error) {
	if len(args) == 0 {
		args = []string{l.Dir}
	}

	var asked []string
	l.of = make(map[string]target)
	for _, arg := range args {
		c, name, err := l.Of(arg)
		if err != nil {
			l.of[arg] = target{err: err}
			asked = append(asked, arg)
			continue
		}
		paths := []string{name}
		if _, err := c.FS.Lstat(l, name); errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(name, "*?[{") {
			found, err := search.Glob(l, c.FS, name)
			if err != nil && !errors.Is(err, syscall.EINVAL) {
				return nil, err
			}
			if len(found) > 0 { // else it is a path like any other, which does not exist
				paths = found
			}
		}
		ref := strings.TrimSuffix(arg, name)
		for _, p := range paths {
			l.of[ref+p] = target{call: c, ref: ref, name: p}
			asked = append(asked, ref+p)
		}
	}
	return asked, nil
}

// filesFirst puts directories behind all else, as ls of Unix does: what follows a heading is in that directory.
func (l *lister) filesFirst(asked []string) []string {
	var files, dirs []string
	for _, arg := range asked {
		if info, err := l.stat(l.of[arg]); err == nil && info.IsDir() {
			dirs = append(dirs, arg)
		} else {
			files = append(files, arg)
		}
	}
	return append(files, dirs...)
}

// stat returns the file of a target. A symlink to a directory stands for that, unless -l or -d is given.
func (l *lister) stat(t target) (*vfs.Info, error) {
	if t.err != nil {
		return nil, t.err
	}
	info, err := t.call.FS.Lstat(l, t.name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 && !l.long && !l.itself {
		if to, err := t.call.FS.Stat(l, t.name); err == nil && to.IsDir() {
			return to, nil
		}
	}
	return info, err
}

// A target is what an argument of ls means: a path, in the tree of its reference if it has one.
type target struct {
	call      *cli.Call
	ref, name string
	err       error // why it has no tree
}

// A lister is one run of ls.
type lister struct {
	*cli.App
	*cli.Call
	of                                map[string]target // what the arguments mean
	ref                               string            // REF: of the present one
	long, recursive, itself, headings bool
	printed                           bool
}

// list lists one argument.
func (l *lister) list(arg string) error {
	t := l.of[arg]
	info, err := l.stat(t)
	if err != nil {
		return err
	}
	l.Call, l.ref = t.call, t.ref
	name := t.name
	if !info.IsDir() || l.itself {
		l.printed = true
		return l.print(path.Dir(cli.Rooted(name)), []*vfs.Info{info}, name)
	}
	return l.dir(name)
}

// dir lists a directory, and with -R then those below.
func (l *lister) dir(name string) error {
	if l.headings && !l.JSON && !l.Zero {
		if l.printed {
			l.Out.Printf("\n")
		}
		shown := l.ref + name
		if l.ref == "" {
			shown = l.Shown(name)
		}
		if err := l.Out.Line(l.Out.Name(shown) + ":"); err != nil {
			return err
		}
	}
	l.printed = true

	// A huge directory is printed in batches. Their columns may differ in width.
	const most = 1 << 14
	var below []string
	var batch []*vfs.Info
	for info, err := range cli.Entries(l, l.FS, name) {
		if err != nil {
			return err
		}
		batch = append(batch, info)
		if info.IsDir() {
			below = append(below, info.Name())
		}
		if len(batch) == cap(batch) && len(batch) >= most {
			if err := l.print(name, batch, ""); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	if err := l.print(name, batch, ""); err != nil {
		return err
	}

	if !l.recursive {
		return nil
	}
	for _, base := range below {
		if err := l.dir(path.Join(name, base)); err != nil {
			return err
		}
	}
	return nil
}

// print shows entries of a directory. asked is the name that the user gave to a single file, which keeps it; for the
// entries of a directory it is "".
func (l *lister) print(dir string, list []*vfs.Info, asked string) error {
	name := func(info *vfs.Info) string {
		switch {
		case asked == "":
			return info.Name()
		case l.ref != "":
			return asked
		}
		return l.Shown(asked)
	}

	switch {
	case l.JSON:
		for _, info := range list {
			full := cli.Rooted(path.Join(dir, info.Name()))
			if asked != "" {
				full = cli.Rooted(asked)
			}
			if err := l.Out.JSON(cli.NewEntry(full, info)); err != nil {
				return err
			}
		}
		return nil
	case l.long:
		var t term.Table
		for _, info := range list {
			t.Row(l.row(info, name(info))...)
		}
		return t.Print(l.Out)
	case l.Out.TTY && !l.Zero:
		return l.columns(list, name)
	}

	for _, info := range list {
		shown := name(info)
		if l.Zero && l.recursive {
			shown = path.Join(dir, shown) // no headings name the directory
		}
		if err := l.Out.Line(l.Out.Name(shown)); err != nil {
			return err
		}
	}
	return nil
}

// row returns the line of ls -l for a file.
func (l *lister) row(info *vfs.Info, name string) []term.Cell {
	uid, gid := info.Owner()
	bytes := human.Size(info.Size())
	if info.IsDir() {
		bytes = "-"
	}
	shown := l.Out.Show(name, info.Mode())
	if target := info.Target(); target != "" {
		shown += " -> " + l.Out.Name(target)
	}
	return []term.Cell{
		{Text: human.Mode(info.Mode())},
		{Text: strconv.Itoa(info.Nlink()), Right: true},
		{Text: strconv.Itoa(uid), Right: true},
		{Text: strconv.Itoa(gid), Right: true},
		{Text: bytes, Right: true},
		{Text: human.Moment(info.ModTime()), Style: term.Dim},
		{Text: shown},
	}
}

// columns fills the width of the terminal, with the names in columns from top to bottom.
func (l *lister) columns(list []*vfs.Info, name func(*vfs.Info) string) error {
	width := 1
	for _, info := range list {
		width = max(width, runewidth.StringWidth(l.Out.Name(name(info)))+3)
	}
	across := max(1, l.Out.Width/width)
	down := (len(list) + across - 1) / across

	for row := range down {
		var b strings.Builder
		for i := row; i < len(list); i += down {
			shown := l.Out.Show(name(list[i]), list[i].Mode())
			b.WriteString(shown)
			if i+down < len(list) {
				used := runewidth.StringWidth(l.Out.Name(name(list[i])))
				if list[i].IsDir() {
					used++
				}
				b.WriteString(strings.Repeat(" ", width-used))
			}
		}
		if err := l.Out.Printf("%s\n", b.String()); err != nil {
			return err
		}
	}
	return nil
}
