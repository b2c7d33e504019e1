package module2

import (
	"fmt"
	"strings"
	"syscall"
	"unicode/utf8"

	"vfsdb/agent/tool"
	"vfsdb/agent/tool/texts"
	"vfsdb/vfs"
)

type readIn struct {
	Path      string `json:"path" jsonschema:"path to the file"`
	StartLine int    `json:"start_line,omitempty" default:"1" min:"1" jsonschema:"first line; the first of the file is 1"`
	EndLine   int    `json:"end_line,omitempty" min:"1" jsonschema:"last line; the last of the file if left out"`
	Encoding  string `json:"encoding,omitempty" default:"\"utf-8\"" jsonschema:"utf-8, ascii or latin-1"`
}

type readOut struct {
	Path         string `json:"path"`
	Content      string `json:"content" jsonschema:"the lines, each with its number and a tab before it"`
	TotalLines   int    `json:"total_lines"`
	StartLine    int    `json:"start_line"`
	EndLine      int    `json:"end_line"`
	SizeBytes    int64  `json:"size_bytes" jsonschema:"of the whole file"`
	Truncated    bool   `json:"truncated,omitempty" jsonschema:"the end of the lines was left out: read on from end_line"`
	OmittedBytes int    `json:"omitted_bytes,omitempty"`
}

func read(g *tool.Guard, in readIn) (readOut, error) {
	enc, err := encodingNamed(in.Encoding)
	if err != nil {
		return readOut{}, err
	}
	if in.EndLine > 0 && in.EndLine < in.StartLine {
		return readOut{}, &tool.ArgumentError{Tool: "read", Why: fmt.Sprintf("end_line %d is before start_line %d", in.EndLine, in.StartLine)}
	}

	v, err := g.ReadLines(in.Path, tool.LineRange{Start: in.StartLine, End: in.EndLine}, g.Caps().ResultBytes)
	switch {
	case err != nil:
		return readOut{}, err
	case v.Binary:
		return readOut{}, &tool.BinaryError{Path: v.Path(), Size: v.Info().Size()}
	case in.StartLine > max(1, v.Total):
		return readOut{}, tool.Refuse(syscall.EINVAL, "start_line %d is past the end: '%s' has %d lines", in.StartLine, v.Path(), v.Total)
	}

	text, err := enc.decode(v.Data)
	if err != nil {
		return readOut{}, fmt.Errorf("'%s': %w", v.Path(), err)
	}
	o := readOut{
		Path: v.Path(), Content: texts.Number(text, v.Start), TotalLines: v.Total,
		StartLine: v.Start, EndLine: v.End, SizeBytes: v.Info().Size(),
	}

	if v.Omitted > 0 {
		o.Truncated, o.OmittedBytes = true, v.Omitted
		o.Content += texts.Omitted(v.Omitted)
	}
	return o, nil
}

// An encoding is a way to write text as bytes.
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
	return "", tool.Refuse(syscall.EINVAL, "encoding %q is not known; there are utf-8, ascii and latin-1", name)
}

// last returns the highest character of an encoding that writes each character as one byte.
func (e encoding) last() rune {
	if e == asciiEncoding {
		return 0x7F
	}
	return 0xFF
}

func (e encoding) decode(data []byte) (string, error) {
	if e == utf8Encoding {
		if !utf8.Valid(data) {
			return "", tool.Refuse(syscall.EILSEQ, "its content is not utf-8; try the encoding latin-1")
		}
		return string(data), nil
	}
	var text strings.Builder
	for i, c := range data {
		if rune(c) > e.last() {
			return "", tool.Refuse(syscall.EILSEQ, "byte %d of these lines, 0x%02x, is not %s; try the encoding utf-8", i, c, e)
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
			return nil, tool.Refuse(syscall.EILSEQ, "the character %q cannot be written in %s; use the encoding utf-8", r, e)
		}
		data = append(data, byte(r))
	}
	return data, nil
}

type writeIn struct {
	Path       string `json:"path" jsonschema:"path to write to"`
	Content    string `json:"content" jsonschema:"the whole new text"`
	CreateDirs bool   `json:"create_dirs,omitempty" default:"false" jsonschema:"create the directories above, if they are missing"`
	Encoding   string `json:"encoding,omitempty" default:"\"utf-8\"" jsonschema:"utf-8, ascii or latin-1"`
}

type writeOut struct {
	Path      string `json:"path"`
	SizeBytes int64  `json:"size_bytes"`
	Created   bool   `json:"created" jsonschema:"the file is new"`
}

func write(g *tool.Guard, in writeIn) (writeOut, error) {
	enc, err := encodingNamed(in.Encoding)
	if err != nil {
		return writeOut{}, err
	}
	data, err := enc.encode(in.Content)
	if err != nil {
		return writeOut{}, err
	}
	w, err := g.Write(in.Path, data, in.CreateDirs, tool.Precondition{})
	if err != nil {
		return writeOut{}, err
	}
	return writeOut{w.Path(), w.Info().Size(), w.Created}, nil
}

type editIn struct {
	Path  string `json:"path" jsonschema:"path to the file"`
	Old   string `json:"old_string" jsonschema:"exact text to find, without line numbers"`
	New   string `json:"new_string" jsonschema:"text to put in its place"`
	Count int    `json:"count,omitempty" default:"1" min:"0" jsonschema:"occurrences to replace, from the start; 0 replaces all"`
}

type editOut struct {
	Path         string `json:"path"`
	Replacements int    `json:"replacements"`
	Preview      string `json:"preview" jsonschema:"the changed lines, at most ten places, and one line around them, numbered"`
}

// edit replaces up to count occurrences; there must be one.
func edit(g *tool.Guard, in editIn) (editOut, error) {
	if in.Old == "" {
		return editOut{}, &tool.ArgumentError{Tool: "edit", Why: "old_string is empty; to fill an empty file, use write"}
	}
	w, err := g.Rewrite(in.Path, tool.Precondition{}, func(old string) (string, int, error) {
		e := vfs.Edit{Old: in.Old, New: in.New, All: in.Count == 0}
		if in.Count > 0 {
			e.Count = max(1, min(in.Count, strings.Count(old, in.Old)))
		}
		text, n, err := e.Apply([]byte(old))
		if err != nil {
			return "", 0, tool.EditFailed(g.Shown(in.Path), 0, 1, e, old, err)
		}
		return string(text), n, nil
	})
	if err != nil {
		return editOut{}, err
	}
	return editOut{w.Path(), w.N, preview(g, w)}, nil
}

// preview returns the first ten changed places, with one line before and after each, as "11 text".
func preview(g *tool.Guard, w *tool.WriteResult) string {
	hunks := texts.Hunks(w.Before, w.After)
	if len(hunks) == 0 {
		return ""
	}
	more := max(0, len(hunks)-texts.MaxHunks)
	text := texts.ShowHunks(hunks[:len(hunks)-more], func(h texts.Hunk) []string { return h.Now("%d %s", 1) }, "...\n") + "\n"
	if more > 0 {
		text += fmt.Sprintf("... %s\n", texts.Count(more, "more changed place", "more changed places"))
	}
	text, _ = texts.Cut(text, min(texts.MaxPreview, g.Caps().ResultBytes))
	return text
}

type insertIn struct {
	Path    string `json:"path" jsonschema:"path to the file"`
	Line    int    `json:"line" min:"1" jsonschema:"line to insert before; the first is 1"`
	Content string `json:"content" jsonschema:"text to insert"`
}

type insertOut struct {
	Path          string `json:"path"`
	Line          int    `json:"line"`
	LinesInserted int    `json:"lines_inserted"`
	Preview       string `json:"preview" jsonschema:"the new lines and one around them, numbered"`
}

func insert(g *tool.Guard, in insertIn) (insertOut, error) {
	w, err := g.Insert(in.Path, in.Line, in.Content, tool.Precondition{})
	if err != nil {
		return insertOut{}, err
	}
	return insertOut{w.Path(), in.Line, len(texts.Split(in.Content)), preview(g, w)}, nil
}
