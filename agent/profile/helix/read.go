package helix

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/tags"
	"vfsdb/agent/tool/texts"
	"vfsdb/internal/mimetype"
	"vfsdb/vfs"
)

type readIn struct {
	Path     string `json:"path"`
	Offset   int    `json:"offset,omitempty" default:"1" min:"1" jsonschema:"first line"`
	Limit    int    `json:"limit,omitempty" min:"1" jsonschema:"lines; else up to 2000, or 40 KiB"`
	Tail     int    `json:"tail,omitempty" min:"1" jsonschema:"the last lines instead"`
	Numbered bool   `json:"numbered,omitempty" default:"false"`
	Content  bool   `json:"content,omitempty" default:"false" jsonschema:"bytes in base64 too, of a binary file"`
}

// A read without a limit is of one page: as many lines as fit both bounds, and one in any case.
const (
	pageLines = 2000
	pageBytes = 40 << 10
)

// readOut is the result of read_file: the text, the sum for a change, and the offset to read on.
type readOut struct {
	Path         string   `json:"path"`
	Text         string   `json:"text" jsonschema:"the lines"`
	Content      []byte   `json:"content,omitempty"`
	Sum          *vfs.Sum `json:"sum" jsonschema:"of the whole file; pass it as ifSum when you change it"`
	Size         int64    `json:"size" jsonschema:"bytes of the whole file"`
	StartLine    int      `json:"startLine,omitempty"`
	EndLine      int      `json:"endLine,omitempty"`
	TotalLines   int      `json:"totalLines,omitempty"`
	NextOffset   int      `json:"nextOffset,omitempty" jsonschema:"where to read on"`
	Binary       bool     `json:"binary,omitempty"`
	MIMEType     string   `json:"mimeType,omitempty"`
	Truncated    bool     `json:"truncated,omitempty"`
	OmittedBytes int      `json:"omittedBytes,omitempty"`

	image []byte
}

func (o readOut) Parts() []tool.Part {
	if o.Binary {
		return []tool.Part{{Line: fmt.Sprintf("binary file, %s, %d bytes, %s; sum %s", o.MIMEType, o.Size, o.shownAs(), o.Sum), Ref: o.Path, Body: string(o.encoded())}}
	}
	var line string
	switch {
	case o.TotalLines == 0:
		line = "an empty file"
	case o.EndLine < o.StartLine:
		line = fmt.Sprintf("nothing there: the file has %s", texts.Count(o.TotalLines, "line", "lines"))
	default:
		line = fmt.Sprintf("lines %d-%d of %d", o.StartLine, o.EndLine, o.TotalLines)
	}
	if o.OmittedBytes > 0 {
		line += fmt.Sprintf(", %d bytes omitted", o.OmittedBytes)
	}
	if o.NextOffset > 0 {
		line += fmt.Sprintf("; read on with offset %d", o.NextOffset)
	}
	return []tool.Part{{Line: line + fmt.Sprintf("; sum %s", o.Sum), Ref: o.Path, Body: o.Text}}
}

// shownAs returns the words for the way in which a binary file is shown.
func (o readOut) shownAs() string {
	switch {
	case o.image != nil:
		return "shown as an image"
	case o.Content != nil:
		return "as base64"
	}
	return "not shown as text"
}

// encoded returns the content of a binary file, if it was asked for.
func (o readOut) encoded() []byte {
	if o.image != nil {
		return nil
	}
	return base64.StdEncoding.AppendEncode(nil, o.Content)
}

func (o readOut) Media() []tool.Media {
	if o.image == nil {
		return nil
	}
	return []tool.Media{{MIMEType: o.MIMEType, Data: o.image, Path: o.Path}}
}

func readFile(g *tool.Guard, in readIn) (readOut, error) {
	r := tool.LineRange{Start: in.Offset, Tail: in.Tail}
	switch {
	case in.Limit > 0:
		r.End = in.Offset + in.Limit - 1
	case in.Tail == 0:
		r.End, r.Page = in.Offset+pageLines-1, pageBytes
	}

	v, err := g.ReadLines(in.Path, r, g.Caps().ResultBytes)
	if err != nil {
		return readOut{}, err
	}
	o := readOut{Path: v.Path(), Sum: v.Sum(), Size: v.Info().Size()}
	if in.Content || v.Binary && mimetype.IsImage(v.Mime) {
		if err := o.load(g, v, in.Content); err != nil {
			return o, err
		}
	}

	if v.Binary {
		o.showBinary(v, in.Content)
		return o, nil
	}
	o.StartLine, o.EndLine, o.TotalLines = v.Start, v.End, v.Total
	text := texts.Valid(string(v.Data))
	if in.Numbered {
		text = texts.Number(text, v.Start)
	}

	if in.Tail > 0 {
		o.showEnd(text, v.Omitted, g.Caps().ResultBytes)
		return o, nil
	}
	next := o.showBeginning(text, v.Omitted, g.Caps().ResultBytes)
	if r.Page > 0 || o.Truncated {
		o.NextOffset = next
	}

	return o, nil
}

// load reads the bytes of a file, if they are few enough.
func (o *readOut) load(g *tool.Guard, v *tool.TextView, wanted bool) (err error) {
	image := mimetype.IsImage(v.Mime) && o.Size <= policy.MaxImage
	if o.Size <= int64(g.Caps().ResultBytes) || image {
		o.Content, err = g.Content(v.Node)
		return err
	}
	if wanted {
		return &policy.SizeError{Path: o.Path, Size: o.Size, Max: int64(g.Caps().ResultBytes)}
	}
	return nil
}

// showBinary describes a file that is no text; an image is shown.
func (o *readOut) showBinary(v *tool.TextView, wanted bool) {
	o.Binary, o.MIMEType = true, v.Mime
	if mimetype.IsImage(v.Mime) {
		o.image = o.Content
	}
	if !wanted {
		o.Content = nil
	}
	o.Text = fmt.Sprintf("[binary file: %s, %d bytes; not shown as text]", v.Mime, o.Size)
}

// showBeginning takes over as much of a text as fits the cap. It returns the line to read on with, 0 at the end of the
// file: the one that was cut is given again, unless it is the first.
func (o *readOut) showBeginning(text string, omitted, limit int) (next int) {
	shown := texts.Clip(text, limit)
	if len(shown) < len(text) {
		o.EndLine = o.StartLine + max(1, len(texts.Split(shown))) - 1
		omitted += len(text) - len(shown)
	}
	o.Text = shown
	if omitted > 0 {
		o.Truncated, o.OmittedBytes = true, omitted
		o.Text += texts.Omitted(omitted)
	}
	switch {
	case omitted > 0 && o.EndLine > o.StartLine && !strings.HasSuffix(shown, "\n"):
		return o.EndLine
	case shown != "" && o.EndLine < o.TotalLines:
		return o.EndLine + 1
	}
	return 0
}

// showEnd takes over as much of a text as fits the cap, from its last byte backwards.
func (o *readOut) showEnd(text string, omitted, limit int) {
	shown, more := texts.Last(text, limit)
	o.Text = shown
	if omitted += more; omitted > 0 {
		o.Truncated, o.OmittedBytes = true, omitted
		o.Text = strings.TrimPrefix(texts.Omitted(omitted), "\n") + "\n" + shown
	}
}

type readManyIn struct {
	Paths []string `json:"paths"`
}

type readManyOut struct {
	Files []readOne `json:"files"`
}

type readOne struct {
	readOut
	Error string `json:"error,omitempty"`
}

// MarshalJSON writes only the path and the error of a file that could not be read.
func (o readOne) MarshalJSON() ([]byte, error) {
	if o.Error != "" {
		return json.Marshal(map[string]string{"path": o.Path, "error": o.Error})
	}
	return json.Marshal(o.readOut)
}

func (o readManyOut) Parts() []tool.Part {
	all := []tool.Part{}
	for i, f := range o.Files {
		of := []tool.Part{{Line: "cannot be read", Op: "error", Ref: f.Path, Body: tags.Line(f.Error)}}
		if f.Error == "" {
			of = f.readOut.Parts()
		}
		of[0].Line = fmt.Sprintf("%d: %s", i+1, of[0].Line)
		all = append(all, of...)
	}
	return all
}

func (o readManyOut) Media() (all []tool.Media) {
	for _, f := range o.Files {
		all = append(all, f.readOut.Media()...)
	}
	return all
}

// readMany reads several files at one moment. One that cannot be read has an error in its place. The cap is one for all
// of them together, and so is that of an image.
func readMany(g *tool.Guard, in readManyIn) (readManyOut, error) {
	out := readManyOut{Files: []readOne{}}
	room, images := g.Caps().ResultBytes, policy.MaxImage
	for _, name := range in.Paths {
		if err := g.Context().Err(); err != nil {
			return out, err
		}
		one, err := readWithin(g, name, room)
		switch {
		case tool.Stops(err):
			return out, err
		case err != nil:
			out.Files = append(out.Files, readOne{readOut{Path: name}, g.Explain(err)})
		default:
			room = max(0, room-len(one.Text)-len(one.Content))
			if images -= len(one.image); images < 0 {
				one.image, images = nil, 0
			}
			out.Files = append(out.Files, readOne{readOut: one})
		}
	}

	return out, nil
}

// readWithin does what readFile does, with another cap.
func readWithin(g *tool.Guard, name string, room int) (readOut, error) {
	return readFile(g.Within(room), readIn{Path: name, Offset: 1})
}
