package agent

import (
	"fmt"
	"strings"
	"syscall"
	"unicode/utf8"

	"vfsdb/vfs"
)

type module2ReadIn struct {
	Path      string `json:"path" jsonschema:"path to the file"`
	StartLine int    `json:"start_line,omitempty" default:"1" min:"1" jsonschema:"first line; the first of the file is 1"`
	EndLine   int    `json:"end_line,omitempty" min:"1" jsonschema:"last line; the last of the file if left out"`
	Encoding  string `json:"encoding,omitempty" default:"\"utf-8\"" jsonschema:"utf-8, ascii or latin-1"`
}

type module2ReadOut struct {
	Path         string `json:"path"`
	Content      string `json:"content" jsonschema:"the lines, each with its number and a tab before it"`
	TotalLines   int    `json:"total_lines"`
	StartLine    int    `json:"start_line"`
	EndLine      int    `json:"end_line"`
	SizeBytes    int64  `json:"size_bytes" jsonschema:"of the whole file"`
	Truncated    bool   `json:"truncated,omitempty" jsonschema:"the end of the lines was left out: read on from end_line"`
	OmittedBytes int    `json:"omitted_bytes,omitempty"`
}

func module2Read(g *guard, in module2ReadIn) (module2ReadOut, error) {
	enc, err := encodingNamed(in.Encoding)
	if err != nil {
		return module2ReadOut{}, err
	}
	if in.EndLine > 0 && in.EndLine < in.StartLine {
		return module2ReadOut{}, &ArgumentError{"read", fmt.Sprintf("end_line %d is before start_line %d", in.EndLine, in.StartLine)}
	}
	v, err := g.readLines(in.Path, lineRange{start: in.StartLine, end: in.EndLine}, g.box.caps.ResultBytes)
	switch {
	case err != nil:
		return module2ReadOut{}, err
	case v.binary:
		return module2ReadOut{}, &BinaryError{rooted(v.path), v.info.Size()}
	case in.StartLine > max(1, v.total):
		return module2ReadOut{}, refuse(syscall.EINVAL, "start_line %d is past the end: '%s' has %d lines", in.StartLine, rooted(v.path), v.total)
	}
	text, err := enc.decode(v.data)
	if err != nil {
		return module2ReadOut{}, fmt.Errorf("'%s': %w", rooted(v.path), err)
	}
	o := module2ReadOut{
		Path: rooted(v.path), Content: numbered(text, v.start), TotalLines: v.total,
		StartLine: v.start, EndLine: v.end, SizeBytes: v.info.Size(),
	}
	if v.omitted > 0 {
		o.Truncated, o.OmittedBytes = true, v.omitted
		o.Content += omittedSuffix(v.omitted)
	}
	return o, nil
}

// An encoding is how the bytes of a file stand for text.
type encoding string

const (
	utf8Encoding   encoding = "utf-8"
	asciiEncoding  encoding = "ascii"
	latin1Encoding encoding = "latin-1"
)

// encodingNamed finds an encoding by one of its usual names.
func encodingNamed(name string) (encoding, error) {
	switch strings.ReplaceAll(strings.ToLower(name), "_", "-") {
	case "utf-8", "utf8":
		return utf8Encoding, nil
	case "ascii", "us-ascii":
		return asciiEncoding, nil
	case "latin-1", "latin1", "iso-8859-1", "iso8859-1":
		return latin1Encoding, nil
	}
	return "", refuse(syscall.EINVAL, "encoding %q is not known; there are utf-8, ascii and latin-1", name)
}

// last is the highest character that an encoding has, of those that are a byte each.
func (e encoding) last() rune {
	if e == asciiEncoding {
		return 0x7F
	}
	return 0xFF
}

func (e encoding) decode(data []byte) (string, error) {
	if e == utf8Encoding {
		if !utf8.Valid(data) {
			return "", refuse(syscall.EILSEQ, "its content is not utf-8; try the encoding latin-1")
		}
		return string(data), nil
	}
	var text strings.Builder
	for i, c := range data {
		if rune(c) > e.last() {
			return "", refuse(syscall.EILSEQ, "byte %d of these lines, 0x%02x, is not %s; try the encoding utf-8", i, c, e)
		}
		text.WriteRune(rune(c))
	}
	return text.String(), nil
}

func (e encoding) encode(text string) ([]byte, error) {
	if e == utf8Encoding {
		return []byte(text), nil
	}
	data := make([]byte, 0, len(text))
	for _, r := range text {
		if r > e.last() {
			return nil, refuse(syscall.EILSEQ, "the character %q cannot be written in %s; use the encoding utf-8", r, e)
		}
		data = append(data, byte(r))
	}
	return data, nil
}

type module2WriteIn struct {
	Path       string `json:"path" jsonschema:"path to write to"`
	Content    string `json:"content" jsonschema:"the whole new text"`
	CreateDirs bool   `json:"create_dirs,omitempty" default:"false" jsonschema:"create the directories above, if they are missing"`
	Encoding   string `json:"encoding,omitempty" default:"\"utf-8\"" jsonschema:"utf-8, ascii or latin-1"`
}

type module2WriteOut struct {
	Path      string `json:"path"`
	SizeBytes int64  `json:"size_bytes"`
	Created   bool   `json:"created" jsonschema:"the file is new"`
}

func module2Write(g *guard, in module2WriteIn) (module2WriteOut, error) {
	enc, err := encodingNamed(in.Encoding)
	if err != nil {
		return module2WriteOut{}, err
	}
	data, err := enc.encode(in.Content)
	if err != nil {
		return module2WriteOut{}, err
	}
	w, err := g.write(in.Path, data, in.CreateDirs, precondition{})
	if err != nil {
		return module2WriteOut{}, err
	}
	return module2WriteOut{rooted(w.path), w.size, w.created}, nil
}

type module2EditIn struct {
	Path  string `json:"path" jsonschema:"path to the file"`
	Old   string `json:"old_string" jsonschema:"exact text to find, without line numbers"`
	New   string `json:"new_string" jsonschema:"text to put in its place"`
	Count int    `json:"count,omitempty" default:"1" min:"0" jsonschema:"occurrences to replace, from the start; 0 replaces all"`
}

type module2EditOut struct {
	Path         string `json:"path"`
	Replacements int    `json:"replacements"`
	Preview      string `json:"preview" jsonschema:"the changed lines, at most ten places, and one line around them, numbered"`
}

// module2Edit replaces up to count occurrences; there must be one.
func module2Edit(g *guard, in module2EditIn) (module2EditOut, error) {
	if in.Old == "" {
		return module2EditOut{}, &ArgumentError{"edit", "old_string is empty; to fill an empty file, use write"}
	}
	w, err := g.rewrite(in.Path, precondition{}, func(old string) (string, int, error) {
		e := vfs.Edit{Old: in.Old, New: in.New, All: in.Count == 0}
		if in.Count > 0 {
			e.Count = max(1, min(in.Count, strings.Count(old, in.Old)))
		}
		text, n, err := e.Apply([]byte(old))
		if err != nil {
			return "", 0, editFailed(g.box.shown(in.Path), 0, 1, e, old, err)
		}
		return string(text), n, nil
	})
	if err != nil {
		return module2EditOut{}, err
	}
	return module2EditOut{rooted(w.path), w.n, module2Preview(g, w)}, nil
}

// module2Preview is the changed places, the first ten if they are more, with one line before and after each, as "11 text".
func module2Preview(g *guard, w *written) string {
	hunks := hunksOf(w.before, w.after)
	if len(hunks) == 0 {
		return ""
	}
	more := max(0, len(hunks)-previewHunks)
	text := showHunks(hunks[:len(hunks)-more], func(h hunk) []string { return h.now("%d %s", 1) }, "...\n") + "\n"
	if more > 0 {
		text += fmt.Sprintf("... %s\n", counted(more, "more changed place", "more changed places"))
	}
	text, _ = cut(text, min(previewBytes, g.box.caps.ResultBytes))
	return text
}

type module2InsertIn struct {
	Path    string `json:"path" jsonschema:"path to the file"`
	Line    int    `json:"line" min:"1" jsonschema:"line to insert before; the first is 1"`
	Content string `json:"content" jsonschema:"text to insert"`
}

type module2InsertOut struct {
	Path          string `json:"path"`
	Line          int    `json:"line"`
	LinesInserted int    `json:"lines_inserted"`
	Preview       string `json:"preview" jsonschema:"the new lines and one around them, numbered"`
}

func module2Insert(g *guard, in module2InsertIn) (module2InsertOut, error) {
	w, err := g.insert(in.Path, in.Line, in.Content, precondition{})
	if err != nil {
		return module2InsertOut{}, err
	}
	return module2InsertOut{rooted(w.path), in.Line, len(splitLines(in.Content)), module2Preview(g, w)}, nil
}
