package agent

import (
	"fmt"
	"math/bits"
	"strings"
	"syscall"
)

// viewRange is the lines that a view asks for: [start, end], where an end of -1 is the last one.
func viewRange(given []int) (lineRange, error) {
	switch {
	case given == nil:
		return lineRange{start: 1}, nil
	case len(given) != 2:
		return lineRange{}, refuse(syscall.EINVAL, "Invalid `view_range`. It should be a list of two integers.")
	case given[1] == -1:
		return lineRange{start: given[0]}, nil
	}
	return lineRange{start: given[0], end: given[1]}, nil
}

// cat reads lines of a text file as they are shown, see shownLines, as many as fit the cap of bytes. check judges the
// number of lines before there is a text.
func (g *guard) cat(name string, r lineRange, check func(total int) error) (string, error) {
	limit := g.box.caps.ResultBytes
	v, err := g.readLines(name, r, limit)
	if err != nil {
		return "", err
	}
	if v.binary {
		return "", &BinaryError{rooted(v.path), v.info.Size()}
	}
	total := v.total
	if v.finalNewline {
		total++
	}
	if err := check(total); err != nil {
		return "", err
	}
	lines := shownLines(string(v.data))
	whole := v.finalNewline && v.omitted == 0 && (r.end == 0 || r.end >= total)
	if last := len(lines) - 1; lines[last] == "" && !whole {
		lines = lines[:last] // it is the start of a line that was not asked for
	}
	text, more := cut(catN(lines, v.start), limit)
	if v.omitted > 0 {
		text = strings.TrimSuffix(text, omittedSuffix(more)) + omittedSuffix(v.omitted+more)
	}
	return text, nil
}

// listingHeader is the first line of a listing.
const listingHeader = "Here're the files and directories up to 2 levels deep in %s, excluding hidden items and node_modules:\n"

// listing shows a directory and what is in it, two levels deep: a size and a path on each line. The size of a directory
// is that of all files below it. Names that begin with a dot, and node_modules, are left out.
func (g *guard) listing(name, shown string) (string, error) {
	base := strings.TrimRight(shown, "/")
	top := base
	if top == "" {
		top = "/"
	}
	type line struct {
		rel  string
		node *node
	}
	var lines []line
	sizes := map[string]int64{} // of directories, by their path from here; "" is this one
	omitted := 0
	at, err := g.names(name, PermList)
	if err != nil {
		return "", err
	}
	err = g.walkDir(at, 1, func(n *node, depth int) (bool, error) {
		rel := relative(at, n.path)
		if n.info.Mode().IsRegular() {
			addSize(sizes, rel, n.info.Size())
		}
		if depth > 2 || unlisted(rel) {
			return true, nil
		}
		if len(lines) == g.box.caps.Entries {
			omitted++
			return true, nil
		}
		lines = append(lines, line{rel, n})
		return true, nil
	})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, listingHeader, top)
	fmt.Fprintf(&b, "%s\t%s", humanSize(sizes[""]), top)
	for _, l := range lines {
		size, end := l.node.info.Size(), ""
		if l.node.info.IsDir() {
			size, end = sizes[l.rel], "/"
		}
		fmt.Fprintf(&b, "\n%s\t%s/%s%s", humanSize(size), base, l.rel, end)
	}
	if omitted > 0 {
		fmt.Fprintf(&b, "\n[... truncated, %d entries omitted; refine your search/path]", omitted)
	}
	text, _ := cut(b.String(), g.box.caps.ResultBytes)
	return text, nil
}

// addSize counts a file in the directories above it that a listing shows.
func addSize(sizes map[string]int64, rel string, size int64) {
	sizes[""] += size
	for i, depth := 0, 0; depth < 2; depth++ {
		n := strings.IndexByte(rel[i:], '/')
		if n < 0 {
			return
		}
		sizes[rel[:i+n]] += size
		i += n + 1
	}
}

// unlisted reports whether a path has a part that listings leave out.
func unlisted(rel string) bool {
	for part := range strings.SplitSeq(rel, "/") {
		if strings.HasPrefix(part, ".") || part == "node_modules" {
			return true
		}
	}
	return false
}

// humanSize is a size as people read it: 0B, 512B, 1.5K, 2K.
func humanSize(size int64) string {
	unit := min(max(bits.Len64(uint64(size))-1, 0)/10, 3)
	scaled := float64(size) / float64(int64(1)<<(10*unit))
	if scaled == float64(int64(scaled)) {
		return fmt.Sprintf("%d%c", int64(scaled), "BKMG"[unit])
	}
	return fmt.Sprintf("%.1f%c", scaled, "BKMG"[unit])
}

// unique finds the one place where old stands in a file, and says in the words of the references if it is not one.
// several is how they write the lines of more than one.
func unique(path, text, old, several string) (span, error) {
	if old == "" {
		return span{}, refuse(syscall.EINVAL, "No replacement was performed, old_str is empty. To add text use `insert`.")
	}
	spots := occurrences(text, old)
	switch len(spots) {
	case 0:
		return span{}, refuse(syscall.EINVAL, "No replacement was performed, old_str `%s` did not appear verbatim in %s.", old, path)
	case 1:
		return spots[0], nil
	}
	return span{}, refuse(syscall.EINVAL, "No replacement was performed. Multiple occurrences of old_str `%s` in lines"+several+". Please ensure it is unique",
		old, linesWith(text, spots))
}

// changeOne replaces the one occurrence of old in a file. It returns the line of the change too, counted from 0.
func (g *guard) changeOne(name, shown, old, with, several string) (w *written, line int, err error) {
	w, err = g.rewrite(name, precondition{}, func(text string) (string, int, error) {
		at, err := unique(shown, text, old, several)
		if err != nil {
			return "", 0, err
		}
		line = lineAt(text, at.start)
		after, err := replaced(text, []span{at}, with)
		return after, 1, err
	})
	return w, line, err
}
