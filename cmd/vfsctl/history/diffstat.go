package history

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"

	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/patch"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A stat is the line of a file: its name, and how much was changed.
type stat struct {
	name           string
	added, removed int
	binary         string // the sizes of a binary file
	top            string // the directory with which the file came or went
}

// printStat prints the changed lines of each file as git diff --stat does, and returns how many files differ.
func (p *patcher) printStat(files iter.Seq2[patch.File, error]) (n int, err error) {
	var list []stat
	added, removed := 0, 0
	for f, err := range files {
		if err != nil {
			return n, err
		}
		n++
		if f.Noted {
			continue
		}
		s := stat{name: f.Name(), added: f.Added, removed: f.Removed, top: p.topOf(&f)}
		if f.Binary {
			s.binary = fmt.Sprintf("%d -> %d bytes", sizeOf(f.Old), sizeOf(f.New))
		}
		list = append(list, s)
		added, removed = added+f.Added, removed+f.Removed
	}
	if len(list) == 0 {
		return n, nil
	}

	lines := foldedStats(list)
	l := layoutOf(lines, p.Out.Width)
	for _, s := range lines {
		if err := p.Out.Printf("%s\n", l.line(p.Out, s)); err != nil {
			return n, err
		}
	}
	return n, p.Out.Printf(" %s\n", totals(len(list), added, removed))
}

// topOf returns the directory with which a file came or went, or "".
func (p *patcher) topOf(f *patch.File) string {
	switch {
	case f.New == nil:
		return p.tops.above(f.Path, snapshot.Removed)
	case f.Old == nil:
		return p.tops.above(f.Path, snapshot.Added)
	}
	return ""
}

// foldedStats makes one line of several files that came or went with a directory.
func foldedStats(list []stat) (lines []stat) {
	files, at := make(map[string]int), make(map[string]int)
	for _, s := range list {
		files[s.top]++
	}
	for _, s := range list {
		if s.top == "" || files[s.top] == 1 {
			lines = append(lines, s)
			continue
		}
		i, there := at[s.top]
		if !there {
			i, at[s.top] = len(lines), len(lines)
			dir := patch.File{Path: s.top + "/"}
			lines = append(lines, stat{name: fmt.Sprintf("%s (%s)", dir.Name(), human.Plural(int64(files[s.top]), "file", "files"))})
		}
		lines[i].added += s.added
		lines[i].removed += s.removed
	}
	return lines
}

// totals is the last line.
func totals(files, added, removed int) string {
	count := func(n int, one, many string) string {
		if n == 1 {
			return "1 " + one
		}
		return strconv.Itoa(n) + " " + many // no commas: programs read the line too
	}
	text := count(files, "file", "files") + " changed"
	if added > 0 || removed == 0 {
		text += ", " + count(added, "insertion(+)", "insertions(+)")
	}
	if removed > 0 || added == 0 {
		text += ", " + count(removed, "deletion(-)", "deletions(-)")
	}
	return text
}

// A layout is the widths of the columns of lines.
type layout struct{ name, number, graph, most int }

// layoutOf fits lines into a width, by the rules of git: the graph gets three eighths, or more if the names are short.
func layoutOf(list []stat, width int) layout {
	l := layout{number: 1}
	binary := 0
	for _, s := range list {
		l.name = max(l.name, runewidth.StringWidth(s.name))
		l.most = max(l.most, s.added+s.removed)
		if s.binary != "" {
			binary = max(binary, len("Bin ")+len(s.binary))
			l.number = 3
		}
	}
	l.number = max(l.number, len(strconv.Itoa(l.most)))
	l.graph = max(l.most, binary-4)

	if l.name+l.number+6+l.graph > width {
		if share := width*3/8 - l.number - 6; l.graph > share {
			l.graph = max(share, 6)
		}
		if room := width - l.number - 6 - l.graph; l.name > room {
			l.name = max(room, 0)
		} else {
			l.graph = width - l.number - 6 - l.name
		}
	}
	return l
}

// line returns the line of a file.
func (l layout) line(o *term.Output, s stat) string {
	name := s.name
	if w := runewidth.StringWidth(name); w > l.name {
		name = runewidth.TruncateLeft(name, w-max(l.name-3, 0), "")
		if _, rest, cut := strings.Cut(name, "/"); cut {
			name = "/" + rest
		}
		name = "..." + name
	}
	name = " " + name + strings.Repeat(" ", max(0, l.name-runewidth.StringWidth(name))) + " | "
	if s.binary != "" {
		return name + fmt.Sprintf("%*s %s", l.number, "Bin", s.binary)
	}

	plus, minus := s.added, s.removed
	if l.graph <= l.most {
		total := l.scaled(plus + minus)
		if total < 2 && plus > 0 && minus > 0 {
			total = 2
		}
		if plus < minus {
			plus = l.scaled(plus)
			minus = total - plus
		} else {
			minus = l.scaled(minus)
			plus = total - minus
		}
	}
	line := name + fmt.Sprintf("%*d", l.number, s.added+s.removed)
	if s.added+s.removed > 0 {
		line += " " + o.Paint(term.Green, strings.Repeat("+", plus)) + o.Paint(term.Red, strings.Repeat("-", minus))
	}
	return line
}

// scaled fits a count into the graph: what is not 0 stays visible.
func (l layout) scaled(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + n*(l.graph-1)/l.most
}

// sizeOf returns the size of a file; of none it is 0.
func sizeOf(info *vfs.Info) int64 {
	if info == nil {
		return 0
	}
	return info.Size()
}
