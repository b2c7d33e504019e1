package deepagents

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/texts"
	"vfsdb/internal/mimetype"
)

const empty = "System reminder: File exists but has empty contents"

type readIn struct {
	Path   string `json:"file_path" jsonschema:"absolute path of the file"`
	Offset int    `json:"offset,omitempty" default:"0" min:"0" jsonschema:"lines to skip: 0 begins at the first"`
	Limit  int    `json:"limit,omitempty" default:"100" min:"1" jsonschema:"how many lines to read"`
}

func (in readIn) About() string { return in.Path }

func read(g *tool.Guard, in readIn) (tool.Answer, error) {
	v, err := g.ReadLines(in.Path, tool.LineRange{Start: in.Offset + 1, End: in.Offset + in.Limit}, g.Caps().ResultBytes)
	switch {
	case err != nil:
		return tool.Answer{}, absent(g, "File", in.Path, err)
	case v.Binary:
		return media(g, v)
	case v.Total == 0 || v.Start == 1 && v.End == v.Total && v.Omitted == 0 && strings.TrimSpace(string(v.Data)) == "":
		return tool.Answer{Text: empty}, nil
	case in.Offset >= v.Total:
		return tool.Answer{}, tool.Refuse(syscall.EINVAL, "Line offset %d exceeds file length (%d lines)", in.Offset, v.Total)
	}
	return tool.Answer{Text: page(v)}, nil
}

// page returns the lines that were read, numbered, and the offset of the next page if there is one. It has as many
// whole lines as fit a result, so that no line between this page and the next is lost.
func page(v *tool.TextView) string {
	lines := texts.Split(texts.Valid(string(v.Data)))
	if v.Omitted > 0 && len(lines) > 1 {
		lines = lines[:len(lines)-1] // it is not whole
	}
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	}
	page := func(n int) string { return numbered(lines[:n], v.Start) + more(v.Start, v.Start+n-1, v.Total) }

	if whole := page(len(lines)); v.Omitted == 0 && utf8.RuneCountInString(whole) < limit {
		return whole
	}
	const why = "\n\n[Output was truncated due to size limits.]"
	tooMany := func(n int) bool {
		shown := numbered(lines[:n+1], v.Start) + why + more(v.Start, v.Start+n, v.Total)
		return utf8.RuneCountInString(shown) > limit
	}
	if n := sort.Search(len(lines), tooMany); n > 0 && (n > 1 || v.Omitted == 0 || v.End > v.Start) {
		return numbered(lines[:n], v.Start) + why + more(v.Start, v.Start+n-1, v.Total)
	}

	// Not even one line fits: its beginning is shown.
	rest := fmt.Sprintf("\n\n[Output was truncated due to size limits: line %d goes on.]", v.Start) + more(v.Start, v.Start, v.Total)
	shown := []rune(numbered(lines[:1], v.Start))
	return string(shown[:min(len(shown), limit-utf8.RuneCountInString(rest))]) + rest
}

// more returns a note about the lines that were read and the offset of the next page; "" at the end of the file.
func more(first, last, total int) string {
	if last >= total {
		return ""
	}
	return fmt.Sprintf("\n\n[Read %s (lines %d-%d of %d total). %s remaining from offset %d.]",
		texts.Count(last-first+1, "line", "lines"), first, last, total, texts.Count(total-last, "line", "lines"), last)
}

// media answers with a file that is no text.
func media(g *tool.Guard, v *tool.TextView) (tool.Answer, error) {
	limit := int64(g.Caps().ResultBytes)
	if mimetype.IsImage(v.Mime) {
		limit = policy.MaxImage
	}
	if v.Info().Size() > limit {
		return tool.Answer{}, &policy.SizeError{Path: v.Path(), Size: v.Info().Size(), Max: limit}
	}
	data, err := g.Content(v.Node)
	text := fmt.Sprintf("[%s: %s, %d bytes]", v.Path(), v.Mime, len(data))
	return tool.Answer{Text: text, Media: []tool.Media{{MIMEType: v.Mime, Data: data, Path: v.Path()}}}, err
}

// numbered puts the number of each line before it, right-aligned, and two spaces. A line beyond deepLine characters
// goes on in rows called 5.1, 5.2.
func numbered(lines []string, first int) string {
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
			n := min(len(rest), maxRow)
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
