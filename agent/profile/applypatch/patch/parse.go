package patch

import (
	"fmt"
	"regexp"
	"strings"
)

// The markers of a patch.
const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
	addFile    = "*** Add File:"
	deleteFile = "*** Delete File:"
	updateFile = "*** Update File:"
	moveTo     = "*** Move to:"
	endOfFile  = "*** End of File"
)

// Parse reads a patch. One that is not whole or not in the format is a [ParseError]; one without files in it is none.
func Parse(text string) ([]FileOp, error) {
	p := newParser(text)
	if err := p.unwrap(); err != nil {
		return nil, err
	}
	for len(p.lines) > 0 {
		if err := p.file(); err != nil {
			return nil, err
		}
	}
	return p.ops, nil
}

// ParseDiff reads the diff of one file, without an envelope and a header, as the apply_patch tool of the Responses API
// has it: lines with a plus for an Add, hunks for an Update. A Delete has none. An Add gets a line break at its end; a
// lone plus as the last line stands for that.
func ParseDiff(kind Kind, path, diff string) (FileOp, error) {
	p := newParser(strings.TrimRight(diff, "\r\n"))
	op := FileOp{Kind: kind, Path: path, At: 1}
	if diff == "" || kind == Delete {
		p.lines = nil
	}

	var err error
	switch kind {
	case Add:
		if last := len(p.lines) - 1; last >= 0 && p.lines[last] == "+" {
			p.lines = p.lines[:last]
		}
		err = p.content(&op)
	case Update:
		err = p.hunks(&op)
	}

	switch {
	case err != nil:
	case kind == Update && len(op.Hunks) == 0:
		err = empty(&op)
	case len(p.lines) > 0:
		err = p.bad("'%s' has no place in the diff of one file", p.lines[0])
	}

	return op, err
}

// A parser goes through the lines of a patch.
type parser struct {
	lines []string // those to come, without line breaks
	at    int      // the number of the first of them
	crlf  bool     // the patch is written with \r\n
	ops   []FileOp
}

func newParser(text string) *parser {
	p := &parser{lines: strings.Split(text, "\n"), at: 1, crlf: strings.Contains(text, "\r\n")}
	for i, line := range p.lines {
		p.lines[i] = strings.TrimRight(line, "\r")
	}
	return p
}

func (p *parser) bad(format string, args ...any) error {
	return &ParseError{p.at, fmt.Sprintf(format, args...)}
}

// next takes a line.
func (p *parser) next() string {
	line := p.lines[0]
	p.lines = p.lines[1:]
	p.at++
	return line
}

// heredoc is the first line of a patch that is wrapped for a shell.
var heredoc = regexp.MustCompile(`^(?:apply_?patch\s+)?<<-?\s*(?:(\w+)|'(\w+)'|"(\w+)")$`)

// unwrap takes the envelope off.
func (p *parser) unwrap() error {
	blank := func(line string) bool { return strings.TrimSpace(line) == "" }
	trim := func() {
		for len(p.lines) > 0 && blank(p.lines[0]) {
			p.next()
		}
		for len(p.lines) > 0 && blank(p.lines[len(p.lines)-1]) {
			p.lines = p.lines[:len(p.lines)-1]
		}
	}

	trim()
	if len(p.lines) > 1 {
		m := heredoc.FindStringSubmatch(strings.TrimSpace(p.lines[0]))
		if last := len(p.lines) - 1; m != nil && strings.TrimSpace(p.lines[last]) == m[1]+m[2]+m[3] {
			p.lines = p.lines[:last]
			p.next()
			trim()
		}
	}

	if len(p.lines) == 0 || strings.TrimSpace(p.lines[0]) != beginPatch {
		return &ParseError{0, "The first line of the patch must be '" + beginPatch + "'"}
	}
	last := len(p.lines) - 1
	if last == 0 || strings.TrimSpace(p.lines[last]) != endPatch {
		return &ParseError{0, "The last line of the patch must be '" + endPatch + "'"}
	}

	p.lines = p.lines[:last]
	p.next()
	return nil
}

// header reads the line that begins the part of a file.
func header(line string) (kind Kind, path string) {
	line = strings.TrimSpace(line)
	for marker, kind := range map[string]Kind{addFile: Add, deleteFile: Delete, updateFile: Update} {
		if path, ok := strings.CutPrefix(line, marker); ok {
			return kind, strings.TrimSpace(path)
		}
	}
	return 0, ""
}

// file reads the part of one file.
func (p *parser) file() error {
	if strings.TrimSpace(p.lines[0]) == "" {
		p.next()
		return nil
	}

	op := FileOp{At: p.at}
	op.Kind, op.Path = header(p.lines[0])
	switch {
	case op.Kind == 0:
		return p.bad("'%s' is not a valid hunk header. Valid hunk headers: '*** Add File: {path}', '*** Delete File: {path}', "+
			"'*** Update File: {path}'", strings.TrimSpace(p.lines[0]))
	case op.Path == "":
		return p.bad("'%s' names no file", strings.TrimSpace(p.lines[0]))
	}

	p.next()
	var err error
	switch op.Kind {
	case Add:
		err = p.content(&op)
	case Update:
		err = p.update(&op)
	}
	p.ops = append(p.ops, op)
	return err
}

// content reads the lines of a file that is added. Empty lines after them separate parts.
func (p *parser) content(op *FileOp) error {
	end := "\n"
	if p.crlf {
		end = "\r\n"
	}
	var b strings.Builder
	for len(p.lines) > 0 {
		text, ok := strings.CutPrefix(p.lines[0], "+")
		if kind, _ := header(p.lines[0]); !ok && (kind != 0 || p.blankUntilHeader()) {
			break
		}
		if !ok {
			return p.bad("Unexpected line found in add file hunk: '%s'. Every line should start with '+'", p.lines[0])
		}
		b.WriteString(text + end)
		p.next()
	}
	op.Content = b.String()
	return nil
}

// blankUntilHeader takes empty lines, if nothing else is left of a part, and reports whether it was so.
func (p *parser) blankUntilHeader() bool {
	for i, line := range p.lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if kind, _ := header(line); kind == 0 {
			return false
		}
		p.lines, p.at = p.lines[i:], p.at+i
		return true
	}
	p.lines, p.at = nil, p.at+len(p.lines)
	return true
}

// update reads the change of a file that exists.
func (p *parser) update(op *FileOp) error {
	if len(p.lines) > 0 {
		if path, ok := strings.CutPrefix(strings.TrimSpace(p.lines[0]), moveTo); ok {
			if op.MoveTo = strings.TrimSpace(path); op.MoveTo == "" {
				return p.bad("'%s' names no file", strings.TrimSpace(p.lines[0]))
			}
			p.next()
		}
	}
	if err := p.hunks(op); err != nil {
		return err
	}
	if len(op.Hunks) == 0 && op.MoveTo == "" {
		return empty(op)
	}
	return nil
}

func empty(op *FileOp) error {
	return &ParseError{op.At, fmt.Sprintf("Update file hunk for path '%s' is empty", op.Path)}
}

// hunks reads the changes of a text.
func (p *parser) hunks(op *FileOp) error {
	for len(p.lines) > 0 && !p.blankUntilHeader() {
		if kind, _ := header(p.lines[0]); kind != 0 {
			return nil
		}
		if p.lines[0] == "" { // before the first hunk, or after the end of the file
			p.next()
			continue
		}
		h, err := p.hunk(len(op.Hunks) == 0)
		if err != nil {
			return err
		}
		op.Hunks = append(op.Hunks, h)
	}
	return nil
}

// unified is a header of a hunk as diff writes it; the numbers say nothing here.
var unified = regexp.MustCompile(`^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@(.*)$`)

// hunk reads one change: the lines with @@, of which the first of a file needs none, and the lines of the text.
func (p *parser) hunk(first bool) (Hunk, error) {
	h := Hunk{At: p.at}
	for len(p.lines) > 0 && strings.HasPrefix(p.lines[0], "@@") {
		context := p.lines[0][2:]
		if m := unified.FindStringSubmatch(p.lines[0]); m != nil {
			context = m[1]
		}
		if strings.TrimSpace(context) != "" {
			h.Context = append(h.Context, strings.TrimPrefix(context, " "))
		}
		p.next()
		first = true
	}

	if !first {
		return h, p.bad("Expected update hunk to start with a @@ context marker, got: '%s'", p.lines[0])
	}
	for len(p.lines) > 0 && !strings.HasPrefix(p.lines[0], "@@") {
		line := p.lines[0]
		if strings.HasPrefix(line, "***") && strings.TrimSpace(line) == endOfFile && len(h.Lines) > 0 {
			p.next()
			h.EndOfFile = true
			break
		}
		if kind, _ := header(line); kind != 0 && !strings.HasPrefix(line, " ") {
			break
		}
		switch {
		case line == "":
			h.Lines = append(h.Lines, Line{' ', ""})
		case strings.IndexByte(" +-", line[0]) >= 0:
			h.Lines = append(h.Lines, Line{line[0], line[1:]})
		default:
			return h, p.bad("Unexpected line found in update hunk: '%s'. Every line should start with ' ' (context line), "+
				"'+' (added line), or '-' (removed line)", line)
		}
		p.next()
	}

	if len(h.Lines) == 0 {
		return h, p.bad("Update hunk does not contain any lines")
	}
	return h, nil
}
