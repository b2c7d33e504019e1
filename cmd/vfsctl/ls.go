package main

import (
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"syscall"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"vfsdb/vfs"
)

func lsCommand(a *app) *cobra.Command {
	l := &lister{app: a}
	cmd := &cobra.Command{
		Use:   "ls [PATH...]",
		Short: "List directories",
		Long: `List the entries of directories, sorted by name as bytes; PATH may be a file too.
A pattern such as 'src/*.go' stands for the paths that it matches. Names that begin with a dot are not hidden.`,
		Example: `  vfsctl ls
  vfsctl ls -l notes
  vfsctl --at before ls -R src
  vfsctl ls -R --json | jq -r 'select(.size > 1e6) | .path'`,
		Args:              args(0, -1),
		ValidArgsFunction: a.completePaths,
		RunE: a.on(reads, func(c *call) error {
			l.call = c
			if err := exclusive(c.cmd, "long", "print0"); err != nil {
				return err
			}
			paths, err := l.expand(c.args)
			if err != nil {
				return err
			}
			l.headings = len(paths) > 1 || l.recursive
			return a.each(c, paths, l.list)
		}),
	}
	cmd.Flags().BoolVarP(&l.long, "long", "l", false, "mode, links, owner, size and time too")
	cmd.Flags().BoolVarP(&l.recursive, "recursive", "R", false, "directories below too")
	cmd.Flags().BoolVarP(&l.itself, "directory", "d", false, "the directory itself, not its entries")
	a.print0(cmd)
	cmd.Flags().BoolP("all", "a", false, "for habit's sake: nothing is hidden")
	_ = cmd.Flags().MarkHidden("all")
	return cmd
}

// expand returns the paths to list: the root where none is named, and for a pattern that is no path what it matches,
// as a shell would on the host.
func (l *lister) expand(args []string) ([]string, error) {
	if len(args) == 0 {
		return []string{"/"}, nil
	}
	var paths []string
	for _, arg := range args {
		_, err := l.fsys.Lstat(l, arg)
		if !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(arg, "*?[{") {
			paths = append(paths, arg)
			continue
		}
		found, err := vfs.Glob(l, l.fsys, arg)
		switch {
		case err != nil && !errors.Is(err, syscall.EINVAL):
			return nil, err
		case len(found) == 0:
			found = []string{arg} // a path like any other, which is not there
		}
		paths = append(paths, found...)
	}
	return paths, nil
}

// A lister is one run of ls.
type lister struct {
	*app
	*call
	long, recursive, itself, headings bool
	printed                           bool
}

func (l *lister) list(name string) error {
	info, err := l.fsys.Lstat(l, name)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 && !l.long && !l.itself {
		if to, err := l.fsys.Stat(l, name); err == nil && to.IsDir() {
			info = to
		}
	}
	if !info.IsDir() || l.itself {
		return l.print(path.Dir(rooted(name)), []*vfs.Info{info}, name)
	}
	return l.dir(name)
}

// dir lists a directory, and with -R then those below.
func (l *lister) dir(name string) error {
	if l.headings && !l.json && !l.zero {
		if l.printed {
			l.out.printf("\n")
		}
		if err := l.out.line(l.out.name(name) + ":"); err != nil {
			return err
		}
	}
	l.printed = true
	var below []string
	var batch []*vfs.Info
	for info, err := range entries(l, l.fsys, name) {
		if err != nil {
			return err
		}
		batch = append(batch, info)
		if info.IsDir() {
			below = append(below, info.Name())
		}
		if len(batch) == cap(batch) && len(batch) >= 1<<14 { // a huge directory: columns may differ from here on
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

// print shows some entries of a directory. The only one of a file that was asked for by its name goes by that.
func (l *lister) print(dir string, list []*vfs.Info, asked string) error {
	name := func(info *vfs.Info) string {
		if asked != "" {
			return asked
		}
		return info.Name()
	}
	switch {
	case l.json:
		for _, info := range list {
			full := rooted(path.Join(dir, info.Name()))
			if asked != "" {
				full = rooted(asked)
			}
			if err := l.out.json(newEntry(full, info)); err != nil {
				return err
			}
		}
		return nil
	case l.long:
		var t table
		for _, info := range list {
			t.row(l.row(info, name(info))...)
		}
		return t.print(l.out)
	case l.out.tty && !l.zero:
		return l.columns(list, name)
	}
	for _, info := range list {
		shown := name(info)
		if l.zero && l.recursive {
			shown = path.Join(dir, shown) // there are no headings to say where it is
		}
		if err := l.out.line(l.out.name(shown)); err != nil {
			return err
		}
	}
	return nil
}

// row is the line of ls -l.
func (l *lister) row(info *vfs.Info, name string) []cell {
	uid, gid := info.Owner()
	bytes := size(info.Size())
	if info.IsDir() {
		bytes = "-"
	}
	shown := l.out.show(name, info.Mode())
	if target := info.Target(); target != "" {
		shown += " -> " + l.out.name(target)
	}
	return []cell{
		{text: modeText(info.Mode())},
		{text: strconv.Itoa(info.Nlink()), right: true},
		{text: strconv.Itoa(uid), right: true},
		{text: strconv.Itoa(gid), right: true},
		{text: bytes, right: true},
		{text: moment(info.ModTime()), style: dim},
		{text: shown},
	}
}

// columns fills the width of the terminal, downwards and then across.
func (l *lister) columns(list []*vfs.Info, name func(*vfs.Info) string) error {
	width := 1
	for _, info := range list {
		width = max(width, runewidth.StringWidth(l.out.name(name(info)))+3)
	}
	across := max(1, l.out.width/width)
	down := (len(list) + across - 1) / across
	for row := range down {
		var b strings.Builder
		for i := row; i < len(list); i += down {
			shown := l.out.show(name(list[i]), list[i].Mode())
			b.WriteString(shown)
			if i+down < len(list) {
				used := runewidth.StringWidth(l.out.name(name(list[i])))
				if list[i].IsDir() {
					used++
				}
				b.WriteString(strings.Repeat(" ", width-used))
			}
		}
		if err := l.out.printf("%s\n", b.String()); err != nil {
			return err
		}
	}
	return nil
}
