package agent

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"vfsdb/internal/mimetype"
)

const deepEmpty = "System reminder: File exists but has empty contents"

type deepReadIn struct {
	Path   string `json:"file_path" jsonschema:"absolute path of the file"`
	Offset int    `json:"offset,omitempty" default:"0" min:"0" jsonschema:"lines to skip: 0 begins at the first"`
	Limit  int    `json:"limit,omitempty" default:"100" min:"1" jsonschema:"how many lines to read"`
}

func (in deepReadIn) about() string { return in.Path }

func deepRead(g *guard, in deepReadIn) (answer, error) {
	v, err := g.readLines(in.Path, lineRange{start: in.Offset + 1, end: in.Offset + in.Limit}, g.box.caps.ResultBytes)
	switch {
	case err != nil:
		return answer{}, absent(g, "File", in.Path, err)
	case v.binary:
		return deepMedia(g, v)
	case v.total == 0 || v.start == 1 && v.end == v.total && v.omitted == 0 && strings.TrimSpace(string(v.data)) == "":
		return answer{text: deepEmpty}, nil
	case in.Offset >= v.total:
		return answer{}, refuse(syscall.EINVAL, "Line offset %d exceeds file length (%d lines)", in.Offset, v.total)
	}
	return answer{text: deepPage(v)}, nil
}

// deepPage is the lines that were read, numbered, and where to go on if there are more. It has as many whole lines as
// fit a result, so that no line between this page and the next is lost.
func deepPage(v *textView) string {
	lines := splitLines(valid(string(v.data)))
	if v.omitted > 0 && len(lines) > 1 {
		lines = lines[:len(lines)-1] // it is not whole
	}
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	}
	page := func(n int) string { return deepNumbered(lines[:n], v.start) + deepMore(v.start, v.start+n-1, v.total) }

	if whole := page(len(lines)); v.omitted == 0 && utf8.RuneCountInString(whole) < deepLimit {
		return whole
	}
	const why = "\n\n[Output was truncated due to size limits.]"
	tooMany := func(n int) bool {
		shown := deepNumbered(lines[:n+1], v.start) + why + deepMore(v.start, v.start+n, v.total)
		return utf8.RuneCountInString(shown) > deepLimit
	}
	if n := sort.Search(len(lines), tooMany); n > 0 && (n > 1 || v.omitted == 0 || v.end > v.start) {
		return deepNumbered(lines[:n], v.start) + why + deepMore(v.start, v.start+n-1, v.total)
	}

	// Not even one line fits: its beginning is shown.
	rest := fmt.Sprintf("\n\n[Output was truncated due to size limits: line %d goes on.]", v.start) + deepMore(v.start, v.start, v.total)
	shown := []rune(deepNumbered(lines[:1], v.start))
	return string(shown[:min(len(shown), deepLimit-utf8.RuneCountInString(rest))]) + rest
}

// deepMore says which lines were read and where to go on; "" at the end of the file.
func deepMore(first, last, total int) string {
	if last >= total {
		return ""
	}
	return fmt.Sprintf("\n\n[Read %s (lines %d-%d of %d total). %s remaining from offset %d.]",
		counted(last-first+1, "line", "lines"), first, last, total, counted(total-last, "line", "lines"), last)
}

// deepMedia is a file that is no text.
func deepMedia(g *guard, v *textView) (answer, error) {
	limit := int64(g.box.caps.ResultBytes)
	if mimetype.IsImage(v.mime) {
		limit = maxImage
	}
	if v.info.Size() > limit {
		return answer{}, &SizeError{rooted(v.path), v.info.Size(), limit}
	}
	data, err := g.tx.ReadFile(v.path)
	text := fmt.Sprintf("[%s: %s, %d bytes]", rooted(v.path), v.mime, len(data))
	return answer{text: text, media: []Media{{v.mime, data, rooted(v.path)}}}, err
}

// deepNumbered puts the number of each line before it, right-aligned, and two spaces. A line beyond deepLine characters
// goes on in rows called 5.1, 5.2.
func deepNumbered(lines []string, first int) string {
	type row struct{ mark, text string }
	var rows []row
	width := 0
	for i, line := range lines {
		mark := strconv.Itoa(first + i)
		rest := []rune(line)
		for part := 0; part == 0 || len(rest) > 0; part++ {
			if part > 0 {
				mark = strconv.Itoa(first+i) + "." + strconv.Itoa(part)
			}
			n := min(len(rest), deepLine)
			rows = append(rows, row{mark, string(rest[:n])})
			rest = rest[n:]
			width = max(width, len(mark))
		}
	}
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.Repeat(" ", width-len(r.mark)) + r.mark + "  " + r.text)
	}
	return b.String()
}
