package dofs

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"syscall"
	"unicode/utf8"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/texts"
)

type readIn struct {
	Path     string `json:"path" jsonschema:"absolute path of the file"`
	Encoding string `json:"encoding,omitempty" enum:"utf8" jsonschema:"utf8 reads text, and fails on anything else"`
	Offset   int    `json:"offset,omitempty" default:"1" min:"1" jsonschema:"first line to read of a text; the first of the file is 1"`
	Limit    int    `json:"limit,omitempty" min:"1" jsonschema:"how many lines; all if left out"`
}

func (in readIn) About() string { return in.Path }

type readOut struct {
	Content    string `json:"content"`
	Encoding   string `json:"encoding" enum:"utf8,base64" jsonschema:"how content stands for the bytes"`
	NextOffset int    `json:"nextOffset,omitempty" jsonschema:"the line to go on from: the text was cut"`
	Omitted    int    `json:"omittedBytes,omitempty"`

	shown string
	files []tool.Media
}

func (o readOut) Text() string { return o.shown }

func (o readOut) Media() []tool.Media { return o.files }

func readFile(g *tool.Guard, in readIn) (readOut, error) {
	r := tool.LineRange{Start: in.Offset}
	if in.Limit > 0 {
		r.End = in.Offset + in.Limit - 1
	}
	v, err := g.ReadLines(in.Path, r, g.Caps().ResultBytes)
	switch {
	case err != nil:
		return readOut{}, underFile(err)
	case (v.Binary || !utf8.Valid(v.Data)) && in.Encoding == "utf8":
		return readOut{}, tool.Refuse(syscall.EINVAL, "it is no text; leave encoding out to get its bytes")
	case v.Binary || !utf8.Valid(v.Data):
		return bytes(g, v)
	}

	if in.Offset > max(1, v.Total) {
		return readOut{}, tool.Refuse(syscall.EINVAL, "offset %d is past the end of its %s", in.Offset, texts.Count(v.Total, "line", "lines"))
	}
	o := readOut{Content: string(v.Data), Encoding: "utf8"}
	if v.Omitted > 0 {
		o.Omitted = v.Omitted
		o.Content += texts.Omitted(v.Omitted)
		if v.End > v.Start {
			o.NextOffset = v.End // the last line may be cut, so it is read again
		}
	}

	o.shown = o.Content
	if o.NextOffset > 0 {
		o.shown += goOn(o.NextOffset)
	}
	return o, nil
}

// bytes answers with a file that is no text, whole or not at all.
func bytes(g *tool.Guard, v *tool.TextView) (readOut, error) {
	if limit := int64(g.Caps().ResultBytes); v.Info().Size() > limit {
		return readOut{}, &policy.SizeError{Path: v.Path(), Size: v.Info().Size(), Max: limit}
	}
	data, err := g.Content(v.Node)
	if err != nil {
		return readOut{}, err
	}
	mime := v.Mime
	if mime == "" {
		mime = "application/octet-stream"
	}
	return readOut{
		Content: base64.StdEncoding.EncodeToString(data), Encoding: "base64",
		shown: fmt.Sprintf("[%d bytes of %s]", len(data), mime),
		files: []tool.Media{{MIMEType: mime, Data: data, Path: v.Path()}},
	}, nil
}

type okOut struct {
	OK bool `json:"ok"`
}

type writeIn struct {
	Path     string `json:"path" jsonschema:"absolute path of the file"`
	Content  string `json:"content" jsonschema:"the whole new content"`
	Encoding string `json:"encoding,omitempty" default:"\"utf8\"" enum:"utf8,base64" jsonschema:"base64 writes the bytes that content stands for"`
	Mode     *int   `json:"mode,omitempty" min:"0" max:"4095" jsonschema:"permission bits, such as 493 for 0o755; a file that exists keeps its own if left out"`
}

func (in writeIn) About() string { return in.Path }

func writeFile(g *tool.Guard, in writeIn) (okOut, error) {
	data := []byte(in.Content)
	if in.Encoding == "base64" {
		var err error
		if data, err = base64.StdEncoding.DecodeString(in.Content); err != nil {
			return okOut{}, tool.Refuse(syscall.EINVAL, "content is no base64")
		}
	}
	w, err := g.Write(in.Path, data, false, tool.Precondition{})
	if err == nil && in.Mode != nil {
		err = g.Chmod(w.Node, unixMode(*in.Mode))
	}
	return okOut{err == nil}, err
}

type statIn struct {
	Path string `json:"path" jsonschema:"absolute path"`
}

func (in statIn) About() string { return in.Path }

type statOut struct {
	Name        string `json:"name" jsonschema:"last segment of the path; empty for the root"`
	Mode        int    `json:"mode" jsonschema:"permission bits"`
	Mtime       int64  `json:"mtime" jsonschema:"milliseconds since 1970"`
	Size        int64  `json:"size"`
	IsFile      bool   `json:"isFile"`
	IsDirectory bool   `json:"isDirectory"`
}

func stat(g *tool.Guard, in statIn) (statOut, error) {
	asked, err := g.Stat(in.Path, tool.Keep)
	if err != nil {
		return statOut{}, underFile(err)
	}
	n, err := g.Stat(in.Path, tool.Follow)
	if err != nil {
		return statOut{}, underFile(err)
	}
	o := statOut{
		Mode: modeNumber(n.Info().Mode()), Mtime: n.Info().ModTime().UnixMilli(), Size: n.Info().Size(),
		IsFile: n.Info().Mode().IsRegular(), IsDirectory: n.Info().IsDir(),
	}
	if asked.Path() != "/" {
		o.Name = asked.Name()
	}
	return o, nil
}

type mkdirIn struct {
	Path      string `json:"path" jsonschema:"absolute path of the directory"`
	Recursive bool   `json:"recursive,omitempty" const:"true" jsonschema:"make those above too; one that exists is fine"`
	Mode      *int   `json:"mode,omitempty" min:"0" max:"4095" jsonschema:"permission bits, such as 448 for 0o700"`
}

func (in mkdirIn) About() string { return in.Path }

func mkdir(g *tool.Guard, in mkdirIn) (okOut, error) {
	at, made, err := g.Mkdir(in.Path, in.Recursive)
	if err == nil && made && in.Mode != nil {
		err = g.Chmod(at, unixMode(*in.Mode))
	}
	return okOut{err == nil}, err
}

type rmIn struct {
	Path      string `json:"path" jsonschema:"absolute path of what to remove"`
	Recursive bool   `json:"recursive,omitempty" const:"true" jsonschema:"a directory with all that is in it"`
	Force     bool   `json:"force,omitempty" const:"true" jsonschema:"nothing there is fine"`
}

func (in rmIn) About() string { return in.Path }

func rm(g *tool.Guard, in rmIn) (okOut, error) {
	_, _, err := g.Remove(in.Path, in.Recursive, in.Force, tool.Precondition{})
	if err = underFile(err); in.Force && tool.Missing(err) {
		err = nil
	}
	return okOut{err == nil}, err
}

// modeNumber returns the 12 permission bits of a mode as Unix numbers them.
func modeNumber(m fs.FileMode) int {
	n := int(m.Perm())
	for bit, flag := range specialModes {
		if m&flag != 0 {
			n |= bit
		}
	}
	return n
}

// unixMode returns the mode of 12 permission bits.
func unixMode(n int) fs.FileMode {
	m := fs.FileMode(n & 0o777)
	for bit, flag := range specialModes {
		if n&bit != 0 {
			m |= flag
		}
	}
	return m
}

var specialModes = map[int]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky}
