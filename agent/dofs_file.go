package agent

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"syscall"
	"unicode/utf8"
)

type dofsReadIn struct {
	Path     string `json:"path" jsonschema:"absolute path of the file"`
	Encoding string `json:"encoding,omitempty" enum:"utf8" jsonschema:"utf8 reads text, and fails on anything else"`
	Offset   int    `json:"offset,omitempty" default:"1" min:"1" jsonschema:"first line to read of a text; the first of the file is 1"`
	Limit    int    `json:"limit,omitempty" min:"1" jsonschema:"how many lines; all if left out"`
}

func (in dofsReadIn) about() string { return in.Path }

type dofsReadOut struct {
	Content    string `json:"content"`
	Encoding   string `json:"encoding" enum:"utf8,base64" jsonschema:"how content stands for the bytes"`
	NextOffset int    `json:"nextOffset,omitempty" jsonschema:"the line to go on from: the text was cut"`
	Omitted    int    `json:"omittedBytes,omitempty"`

	shown string
	files []Media
}

func (o dofsReadOut) text() string   { return o.shown }
func (o dofsReadOut) media() []Media { return o.files }

func dofsReadFile(g *guard, in dofsReadIn) (dofsReadOut, error) {
	r := lineRange{start: in.Offset}
	if in.Limit > 0 {
		r.end = in.Offset + in.Limit - 1
	}
	v, err := g.readLines(in.Path, r, g.box.caps.ResultBytes)
	switch {
	case err != nil:
		return dofsReadOut{}, underFile(err)
	case (v.binary || !utf8.Valid(v.data)) && in.Encoding == "utf8":
		return dofsReadOut{}, refuse(syscall.EINVAL, "it is no text; leave encoding out to get its bytes")
	case v.binary || !utf8.Valid(v.data):
		return dofsBytes(g, v)
	}
	if in.Offset > max(1, v.total) {
		return dofsReadOut{}, refuse(syscall.EINVAL, "offset %d is past the end of its %s", in.Offset, counted(v.total, "line", "lines"))
	}
	o := dofsReadOut{Content: string(v.data), Encoding: "utf8"}
	if v.omitted > 0 {
		o.Omitted = v.omitted
		o.Content += omittedSuffix(v.omitted)
		if v.end > v.start {
			o.NextOffset = v.end // the last line may be cut, so it is read again
		}
	}
	o.shown = o.Content
	if o.NextOffset > 0 {
		o.shown += goOn(o.NextOffset)
	}
	return o, nil
}

// dofsBytes is a file that is no text, whole or not at all.
func dofsBytes(g *guard, v *textView) (dofsReadOut, error) {
	if limit := int64(g.box.caps.ResultBytes); v.info.Size() > limit {
		return dofsReadOut{}, &SizeError{rooted(v.path), v.info.Size(), limit}
	}
	data, err := g.tx.ReadFile(v.path)
	if err != nil {
		return dofsReadOut{}, err
	}
	mime := v.mime
	if mime == "" {
		mime = "application/octet-stream"
	}
	return dofsReadOut{
		Content: base64.StdEncoding.EncodeToString(data), Encoding: "base64",
		shown: fmt.Sprintf("[%d bytes of %s]", len(data), mime),
		files: []Media{{mime, data, rooted(v.path)}},
	}, nil
}

type okOut struct {
	OK bool `json:"ok"`
}

type dofsWriteIn struct {
	Path     string `json:"path" jsonschema:"absolute path of the file"`
	Content  string `json:"content" jsonschema:"the whole new content"`
	Encoding string `json:"encoding,omitempty" default:"\"utf8\"" enum:"utf8,base64" jsonschema:"base64 writes the bytes that content stands for"`
	Mode     *int   `json:"mode,omitempty" min:"0" max:"4095" jsonschema:"permission bits, such as 493 for 0o755; a file that exists keeps its own if left out"`
}

func (in dofsWriteIn) about() string { return in.Path }

func dofsWriteFile(g *guard, in dofsWriteIn) (okOut, error) {
	data := []byte(in.Content)
	if in.Encoding == "base64" {
		var err error
		if data, err = base64.StdEncoding.DecodeString(in.Content); err != nil {
			return okOut{}, refuse(syscall.EINVAL, "content is no base64")
		}
	}
	w, err := g.write(in.Path, data, false, precondition{})
	if err == nil && in.Mode != nil {
		err = g.chmod(w.path, unixMode(*in.Mode))
	}
	return okOut{err == nil}, err
}

type dofsStatIn struct {
	Path string `json:"path" jsonschema:"absolute path"`
}

func (in dofsStatIn) about() string { return in.Path }

type dofsStatOut struct {
	Name        string `json:"name" jsonschema:"last segment of the path; empty for the root"`
	Mode        int    `json:"mode" jsonschema:"permission bits"`
	Mtime       int64  `json:"mtime" jsonschema:"milliseconds since 1970"`
	Size        int64  `json:"size"`
	IsFile      bool   `json:"isFile"`
	IsDirectory bool   `json:"isDirectory"`
}

func dofsStat(g *guard, in dofsStatIn) (dofsStatOut, error) {
	asked, err := g.stat(in.Path, keep)
	if err != nil {
		return dofsStatOut{}, underFile(err)
	}
	n, err := g.stat(in.Path, follow)
	if err != nil {
		return dofsStatOut{}, underFile(err)
	}
	o := dofsStatOut{
		Mode: modeNumber(n.info.Mode()), Mtime: n.info.ModTime().UnixMilli(), Size: n.info.Size(),
		IsFile: n.info.Mode().IsRegular(), IsDirectory: n.info.IsDir(),
	}
	if asked.path != "." {
		o.Name = asked.name()
	}
	return o, nil
}

type dofsMkdirIn struct {
	Path      string `json:"path" jsonschema:"absolute path of the directory"`
	Recursive bool   `json:"recursive,omitempty" const:"true" jsonschema:"make those above too; one that exists is fine"`
	Mode      *int   `json:"mode,omitempty" min:"0" max:"4095" jsonschema:"permission bits, such as 448 for 0o700"`
}

func (in dofsMkdirIn) about() string { return in.Path }

func dofsMkdir(g *guard, in dofsMkdirIn) (okOut, error) {
	at, made, err := g.mkdir(in.Path, in.Recursive)
	if err == nil && made && in.Mode != nil {
		err = g.chmod(at, unixMode(*in.Mode))
	}
	return okOut{err == nil}, err
}

type dofsRmIn struct {
	Path      string `json:"path" jsonschema:"absolute path of what to remove"`
	Recursive bool   `json:"recursive,omitempty" const:"true" jsonschema:"a directory with all that is in it"`
	Force     bool   `json:"force,omitempty" const:"true" jsonschema:"nothing there is fine"`
}

func (in dofsRmIn) about() string { return in.Path }

func dofsRm(g *guard, in dofsRmIn) (okOut, error) {
	_, _, err := g.remove(in.Path, in.Recursive, in.Force, precondition{})
	if err = underFile(err); in.Force && missing(err) {
		err = nil
	}
	return okOut{err == nil}, err
}

// modeNumber is the 12 permission bits of a mode as Unix numbers them.
func modeNumber(m fs.FileMode) int {
	n := int(m.Perm())
	for bit, flag := range specialModes {
		if m&flag != 0 {
			n |= bit
		}
	}
	return n
}

// unixMode is the mode of 12 permission bits.
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
