package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"vfsdb/internal/mimetype"
	"vfsdb/vfs"
)

type readIn struct {
	Path     string `json:"path" jsonschema:"the file to read"`
	Offset   int    `json:"offset,omitempty" default:"1" min:"1" jsonschema:"first line to read; the first of the file is 1"`
	Limit    int    `json:"limit,omitempty" min:"1" jsonschema:"how many lines to read; all if left out"`
	Tail     int    `json:"tail,omitempty" min:"1" jsonschema:"read this many lines from the end instead"`
	Numbered bool   `json:"numbered,omitempty" default:"false" jsonschema:"put the number of each line before it"`
	Content  bool   `json:"content,omitempty" default:"false" jsonschema:"return the bytes too, in base64: for a file that is no text"`
}

// readOut is what read_file gives (T03): the text inside its boundary tags, and what is needed to change the file.
type readOut struct {
	Path         string   `json:"path"`
	Text         string   `json:"text" jsonschema:"the lines, inside tags that mark them as untrusted"`
	Content      []byte   `json:"content,omitempty"`
	Sum          *vfs.Sum `json:"sum" jsonschema:"of the whole file; pass it as ifSum when you change it"`
	Size         int64    `json:"size" jsonschema:"bytes of the whole file"`
	StartLine    int      `json:"startLine,omitempty"`
	EndLine      int      `json:"endLine,omitempty"`
	TotalLines   int      `json:"totalLines,omitempty"`
	Binary       bool     `json:"binary,omitempty"`
	MIMEType     string   `json:"mimeType,omitempty"`
	Truncated    bool     `json:"truncated,omitempty"`
	OmittedBytes int      `json:"omittedBytes,omitempty"`

	image []byte
}

func (o readOut) text() string {
	what := fmt.Sprintf("%s  sum %s", oneLine(o.Path), o.Sum)
	switch {
	case o.TotalLines > 0 && o.EndLine < o.StartLine:
		what += fmt.Sprintf("  nothing there: the file has %s", counted(o.TotalLines, "line", "lines"))
	case o.TotalLines > 0:
		what += fmt.Sprintf("  lines %d-%d of %d", o.StartLine, o.EndLine, o.TotalLines)
	}
	return what + "\n" + o.Text
}

func (o readOut) media() []Media {
	if o.image == nil {
		return nil
	}
	return []Media{{o.MIMEType, o.image}}
}

func readFile(g *guard, in readIn) (readOut, error) {
	r := lineRange{start: in.Offset, tail: in.Tail}
	if in.Limit > 0 {
		r.end = in.Offset + in.Limit - 1
	}
	v, err := g.readLines(in.Path, r, g.box.caps.ResultBytes)
	if err != nil {
		return readOut{}, err
	}
	o := readOut{Path: rooted(v.path), Sum: v.sum, Size: v.info.Size()}
	if in.Content || v.binary && mimetype.IsImage(v.mime) {
		if o.Size <= int64(g.box.caps.ResultBytes) || mimetype.IsImage(v.mime) && o.Size <= maxImage {
			if o.Content, err = g.tx.ReadFile(v.path); err != nil {
				return o, err
			}
		} else if in.Content {
			return o, &SizeError{o.Path, o.Size, int64(g.box.caps.ResultBytes)}
		}
	}
	if v.binary {
		o.Binary, o.MIMEType = true, v.mime
		if mimetype.IsImage(v.mime) {
			o.image = o.Content
		}
		if !in.Content {
			o.Content = nil
		}
		o.Text = fmt.Sprintf("[binary file: %s, %d bytes; not shown as text]", v.mime, o.Size)
		return o, nil
	}
	text := strings.ToValidUTF8(string(v.data), "\uFFFD")
	o.StartLine, o.EndLine, o.TotalLines = v.start, v.end, v.total
	if in.Numbered {
		text = numbered(text, v.start)
	}
	text, more := cut(text, g.box.caps.ResultBytes)
	if more > 0 {
		text = strings.TrimSuffix(text, omittedSuffix(more))
	}
	if o.OmittedBytes = v.omitted + more; o.OmittedBytes > 0 {
		o.Truncated = true
		text += omittedSuffix(o.OmittedBytes)
	}
	o.Text = fence(g.box.Workspace(), "read_file", o.Path, text)
	return o, nil
}

// maxImage is the largest image that is shown, in bytes: what models take.
const maxImage = 5 << 20

type readManyIn struct {
	Paths []string `json:"paths" jsonschema:"the files to read"`
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

func (o readManyOut) text() string {
	parts := make([]string, len(o.Files))
	for i, f := range o.Files {
		if parts[i] = f.Error; f.Error == "" {
			parts[i] = f.readOut.text()
		}
	}
	return strings.Join(parts, "\n\n")
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
			out.Files = append(out.Files, readOne{readOut{Path: name}, g.box.profile.explain(g.box, err)})
		default:
			room = max(0, room-len(one.Text))
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
