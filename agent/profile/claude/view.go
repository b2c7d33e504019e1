package claude

import (
	"fmt"
	"math/bits"
	"strings"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/texts"
)

// viewRange returns the lines that a view asks for: [start, end], where an end of -1 is the last line.
func viewRange(given []int) (tool.LineRange, error) {
	switch {
	case given == nil:
		return tool.LineRange{Start: 1}, nil
	case len(given) != 2:
		return tool.LineRange{}, tool.Refuse(syscall.EINVAL, "Invalid `view_range`. It should be a list of two integers.")
	case given[1] == -1:
		return tool.LineRange{Start: given[0]}, nil
	}
	return tool.LineRange{Start: given[0], End: given[1]}, nil
}

// cat reads lines of a text file as they are shown, see shownLines, as many as fit the cap of bytes. check judges the
// number of lines before there is a text.
func cat(g *tool.Guard, name string, r tool.LineRange, check func(total int) error) (string, error) {
	limit := g.Caps().ResultBytes
	v, err := g.ReadLines(name, r, limit)
	if err != nil {
		return "", err
	}
	if v.Binary {
		return "", &tool.BinaryError{Path: v.Path(), Size: v.Info().Size()}
	}

	total := v.Total
	if v.FinalNewline {
		total++
	}
	if err := check(total); err != nil {
		return "", err
	}

	lines := shownLines(string(v.Data))
	whole := v.FinalNewline && v.Omitted == 0 && (r.End == 0 || r.End >= total)
	if last := len(lines) - 1; lines[last] == "" && !whole {
		lines = lines[:last] // it is the start of a line that was not asked for
	}

	text, more := texts.Cut(texts.Cat(lines, v.Start), limit)
	if v.Omitted > 0 {
		text = strings.TrimSuffix(text, texts.Omitted(more)) + texts.Omitted(v.Omitted+more)
	}
	return text, nil
}

// listingHeader is the first line of a listing.
const listingHeader = "Here're the files and directories up to 2 levels deep in %s, excluding hidden items and node_modules:\n"

// listing shows a directory and what is in it, two levels deep: a size and a path on each line. The size of a directory
// is that of all files below it. Names that begin with a dot, and node_modules, are left out.
func listing(g *tool.Guard, name, shown string) (string, error) {
	base := strings.TrimRight(shown, "/")
	top := base
	if top == "" {
		top = "/"
	}

	type line struct {
		rel  string
		node *tool.Node
	}
	var lines []line
	sizes := map[string]int64{} // of directories, by their path from here; "" is this one
	omitted := 0
	_, err := g.Walk(name, policy.List, func(n *tool.Node, rel string) (bool, error) {
		if n.Info().Mode().IsRegular() {
			addSize(sizes, rel, n.Info().Size())
		}
		if strings.Count(rel, "/") > 1 || unlisted(rel) {
			return true, nil
		}
		if len(lines) == g.Caps().Entries {
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
		size, end := l.node.Info().Size(), ""
		if l.node.Info().IsDir() {
			size, end = sizes[l.rel], "/"
		}
		fmt.Fprintf(&b, "\n%s\t%s/%s%s", humanSize(size), base, l.rel, end)
	}

	if omitted > 0 {
		fmt.Fprintf(&b, "\n[... truncated, %d entries omitted; refine your search/path]", omitted)
	}
	text, _ := texts.Cut(b.String(), g.Caps().ResultBytes)
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

// humanSize writes a size for people: 0B, 512B, 1.5K, 2K.
func humanSize(size int64) string {
	unit := min(max(bits.Len64(uint64(size))-1, 0)/10, 3)
	scaled := float64(size) / float64(int64(1)<<(10*unit))
	if scaled == float64(int64(scaled)) {
		return fmt.Sprintf("%d%c", int64(scaled), "BKMG"[unit])
	}
	return fmt.Sprintf("%.1f%c", scaled, "BKMG"[unit])
}

// unique finds the one occurrence of old in a file. If there is none, or more than one, its error has the words of
// the references. several is their format for the lines of several occurrences.
func unique(path, text, old, several string) (texts.Span, error) {
	if old == "" {
		return texts.Span{}, tool.Refuse(syscall.EINVAL, "No replacement was performed, old_str is empty. To add text use `insert`.")
	}
	spots := texts.Occurrences(text, old)
	switch len(spots) {
	case 0:
		return texts.Span{}, tool.Refuse(syscall.EINVAL, "No replacement was performed, old_str `%s` did not appear verbatim in %s.", old, path)
	case 1:
		return spots[0], nil
	}
	return texts.Span{}, tool.Refuse(syscall.EINVAL, "No replacement was performed. Multiple occurrences of old_str `%s` in lines"+several+". Please ensure it is unique",
		old, linesWith(text, spots))
}

// changeOne replaces the one occurrence of old in a file. It returns the line of the change too, counted from 0.
func changeOne(g *tool.Guard, name, shown, old, with, several string) (w *tool.WriteResult, line int, err error) {
	w, err = g.Rewrite(name, tool.Precondition{}, func(text string) (string, int, error) {
		at, err := unique(shown, text, old, several)
		if err != nil {
			return "", 0, err
		}
		line = lineAt(text, at.Start)
		after, err := tool.Replace(text, []texts.Span{at}, with)
		return after, 1, err
	})
	return w, line, err
}

// insertLines puts whole lines after a line of a file; 0 is its start. bounds is how the reference ends the refusal of a
// line that the file does not have.
func insertLines(g *tool.Guard, name string, line int, insert, bounds string) (*tool.WriteResult, error) {
	return g.Rewrite(name, tool.Precondition{}, func(old string) (string, int, error) {
		text, ok := insertAfter(old, line, insert)
		if !ok {
			return "", 0, tool.Refuse(syscall.EINVAL, "Invalid `insert_line` parameter: %d. It should be within the range"+bounds,
				line, len(texts.Split(old)))
		}
		return text, 1, nil
	})
}
