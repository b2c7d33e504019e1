package agent

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

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

// readOut is what read_file gives: the text, and what is needed to change the file or to read on.
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

func (o readOut) parts() []part {
	if o.Binary {
		return []part{{line: fmt.Sprintf("binary file, %s, %d bytes, %s; sum %s", o.MIMEType, o.Size, o.shownAs(), o.Sum), ref: o.Path, body: string(o.encoded())}}
	}
	var line string
	switch {
	case o.TotalLines == 0:
		line = "an empty file"
	case o.EndLine < o.StartLine:
		line = fmt.Sprintf("nothing there: the file has %s", counted(o.TotalLines, "line", "lines"))
	default:
		line = fmt.Sprintf("lines %d-%d of %d", o.StartLine, o.EndLine, o.TotalLines)
	}
	if o.OmittedBytes > 0 {
		line += fmt.Sprintf(", %d bytes omitted", o.OmittedBytes)
	}
	if o.NextOffset > 0 {
		line += fmt.Sprintf("; read on with offset %d", o.NextOffset)
	}
	return []part{{line: line + fmt.Sprintf("; sum %s", o.Sum), ref: o.Path, body: o.Text}}
}

// shownAs says what becomes of a binary file.
func (o readOut) shownAs() string {
	switch {
	case o.image != nil:
		return "shown as an image"
	case o.Content != nil:
		return "as base64"
	}
	return "not shown as text"
}

// encoded is the content of a binary file where it was asked for.
func (o readOut) encoded() []byte {
	if o.image != nil {
		return nil
	}
	return base64.StdEncoding.AppendEncode(nil, o.Content)
}

func (o readOut) media() []Media {
	if o.image == nil {
		return nil
	}
	return []Media{{o.MIMEType, o.image, o.Path}}
}

func readFile(g *guard, in readIn) (readOut, error) {
	r := lineRange{start: in.Offset, tail: in.Tail}
	switch {
	case in.Limit > 0:
		r.end = in.Offset + in.Limit - 1
	case in.Tail == 0:
		r.end, r.page = in.Offset+pageLines-1, pageBytes
	}
	v, err := g.readLines(in.Path, r, g.box.caps.ResultBytes)
	if err != nil {
		return readOut{}, err
	}
	o := readOut{Path: rooted(v.path), Sum: v.sum, Size: v.info.Size()}
	if in.Content || v.binary && mimetype.IsImage(v.mime) {
		if err := o.load(g, v, in.Content); err != nil {
			return o, err
		}
	}
	if v.binary {
		o.showBinary(v, in.Content)
		return o, nil
	}
	o.StartLine, o.EndLine, o.TotalLines = v.start, v.end, v.total
	text := valid(string(v.data))
	if in.Numbered {
		text = numbered(text, v.start)
	}
	if in.Tail > 0 {
		o.showEnd(text, v.omitted, g.box.caps.ResultBytes)
		return o, nil
	}
	next := o.showBeginning(text, v.omitted, g.box.caps.ResultBytes)
	if r.page > 0 || o.Truncated {
		o.NextOffset = next
	}
	return o, nil
}

// load reads the bytes of a file, if they are few enough.
func (o *readOut) load(g *guard, v *textView, wanted bool) (err error) {
	image := mimetype.IsImage(v.mime) && o.Size <= maxImage
	if o.Size <= int64(g.box.caps.ResultBytes) || image {
		o.Content, err = g.tx.ReadFile(v.path)
		return err
	}
	if wanted {
		return &SizeError{o.Path, o.Size, int64(g.box.caps.ResultBytes)}
	}
	return nil
}

// showBinary says what a file that is no text is; an image is shown.
func (o *readOut) showBinary(v *textView, wanted bool) {
	o.Binary, o.MIMEType = true, v.mime
	if mimetype.IsImage(v.mime) {
		o.image = o.Content
	}
	if !wanted {
		o.Content = nil
	}
	o.Text = fmt.Sprintf("[binary file: %s, %d bytes; not shown as text]", v.mime, o.Size)
}

// showBeginning takes over as much of a text as fits the cap. It returns the line to read on with, 0 at the end of the
// file: the one that was cut is given again, unless it is the first.
func (o *readOut) showBeginning(text string, omitted, limit int) (next int) {
	shown := clipped(text, limit)
	if len(shown) < len(text) {
		o.EndLine = o.StartLine + max(1, len(splitLines(shown))) - 1
		omitted += len(text) - len(shown)
	}
	o.Text = shown
	if omitted > 0 {
		o.Truncated, o.OmittedBytes = true, omitted
		o.Text += omittedSuffix(omitted)
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
	shown, more := lastBytes(text, limit)
	o.Text = shown
	if omitted += more; omitted > 0 {
		o.Truncated, o.OmittedBytes = true, omitted
		o.Text = strings.TrimPrefix(omittedSuffix(omitted), "\n") + "\n" + shown
	}
}

// maxImage is the largest image that is shown, in bytes: what models take.
const maxImage = 5 << 20

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

// MarshalJSON leaves out what a file that could not be read does not have.
func (o readOne) MarshalJSON() ([]byte, error) {
	if o.Error != "" {
		return json.Marshal(map[string]string{"path": o.Path, "error": o.Error})
	}
	return json.Marshal(o.readOut)
}

func (o readManyOut) parts() []part {
	all := []part{}
	for i, f := range o.Files {
		of := []part{{line: "cannot be read", op: "error", ref: f.Path, body: plainLine(f.Error)}}
		if f.Error == "" {
			of = f.readOut.parts()
		}
		of[0].line = fmt.Sprintf("%d: %s", i+1, of[0].line)
		all = append(all, of...)
	}
	return all
}

func (o readManyOut) media() (all []Media) {
	for _, f := range o.Files {
		all = append(all, f.readOut.media()...)
	}
	return all
}

// readMany reads several files at one moment. One that cannot be read has an error in its place. The cap is one for all
// of them together, and so is that of an image.
func readMany(g *guard, in readManyIn) (readManyOut, error) {
	out := readManyOut{Files: []readOne{}}
	room, images := g.box.caps.ResultBytes, maxImage
	for _, name := range in.Paths {
		if err := g.ctx.Err(); err != nil {
			return out, err
		}
		one, err := readWithin(g, name, room)
		switch {
		case stops(err):
			return out, err
		case err != nil:
			out.Files = append(out.Files, readOne{readOut{Path: name}, g.box.profile.Explain(g.box, err)})
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

// readWithin is readFile with another cap.
func readWithin(g *guard, name string, room int) (readOut, error) {
	box := *g.box
	box.caps.ResultBytes = room
	narrow := *g
	narrow.box = &box
	return readFile(&narrow, readIn{Path: name, Offset: 1})
}
