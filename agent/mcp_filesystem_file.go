package agent

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"path"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"vfsdb/vfs"
)

type mcpReadIn struct {
	Path string `json:"path"`
	Tail int    `json:"tail,omitempty" min:"0" jsonschema:"if given, only the last so many lines"`
	Head int    `json:"head,omitempty" min:"0" jsonschema:"if given, only the first so many lines"`
}

func (in mcpReadIn) about() string { return in.Path }

func mcpRead(g *guard, in mcpReadIn) (mcpOut, error) {
	if in.Head > 0 && in.Tail > 0 {
		return mcpOut{}, refuse(syscall.EINVAL, "Cannot specify both head and tail parameters simultaneously")
	}
	text, err := mcpText(g, in.Path, lineRange{end: in.Head, tail: in.Tail}, g.box.caps.ResultBytes)
	return mcpOut{text}, err
}

// mcpText is a text file, or some of its lines, which then end without a line break. Text beyond the limit is refused:
// what was cut would be lost if the rest were written back.
func mcpText(g *guard, name string, r lineRange, limit int) (string, error) {
	v, err := g.readLines(name, r, min(limit, vfs.MaxEditSize))
	switch {
	case err != nil:
		return "", err
	case v.omitted > 0:
		return "", refuse(syscall.EFBIG, "'%s' has %d bytes more than the %d that fit a result. Read it in parts, with head or tail", rooted(v.path), v.omitted, len(v.data))
	case v.binary:
		return "", refuse(syscall.EINVAL, "'%s' is no text: %s, %d bytes. Try read_media_file", rooted(v.path), v.mime, v.info.Size())
	}
	text := nodeText(v.data)
	if r.end > 0 || r.tail > 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	return text, nil
}

// nodeText decodes UTF-8 as Node does: a replacement for each byte that is none.
func nodeText(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	return string([]rune(string(data)))
}

type mcpPathIn struct {
	Path string `json:"path"`
}

func (in mcpPathIn) about() string { return in.Path }

type mcpBlock struct {
	Type     string       `json:"type" enum:"image,audio,resource"`
	Data     string       `json:"data,omitempty" jsonschema:"of an image or audio"`
	MIMEType string       `json:"mimeType,omitempty" jsonschema:"of an image or audio"`
	Resource *mcpResource `json:"resource,omitempty" jsonschema:"any other file"`
}

type mcpResource struct {
	URI      string `json:"uri" jsonschema:"the path of the file"`
	MIMEType string `json:"mimeType"`
	Blob     string `json:"blob"`
}

type mcpMediaOut struct {
	Content []mcpBlock `json:"content"`

	file Media
}

func (o mcpMediaOut) text() string {
	return fmt.Sprintf("[%s, %d bytes]", o.file.MIMEType, len(o.file.Data))
}
func (o mcpMediaOut) media() []Media { return []Media{o.file} }

// mcpTypes are the types of files by the ends of their names.
var mcpTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".bmp": "image/bmp", ".svg": "image/svg+xml",
	".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg", ".flac": "audio/flac",
}

func mcpMedia(g *guard, in mcpPathIn) (mcpMediaOut, error) {
	n, err := g.open(in.Path)
	if err != nil {
		return mcpMediaOut{}, err
	}
	if n.info.Size() > maxImage {
		return mcpMediaOut{}, &SizeError{rooted(n.path), n.info.Size(), maxImage}
	}
	data, err := g.tx.ReadFile(n.path)
	if err != nil {
		return mcpMediaOut{}, err
	}
	mime, ok := mcpTypes[strings.ToLower(path.Ext(n.path))]
	if !ok {
		mime = "application/octet-stream"
	}
	text := base64.StdEncoding.EncodeToString(data)
	kind, _, _ := strings.Cut(mime, "/")
	block := mcpBlock{Type: kind, Data: text, MIMEType: mime}
	if kind == "application" {
		block = mcpBlock{Type: "resource", Resource: &mcpResource{rooted(n.path), mime, text}}
	}
	return mcpMediaOut{[]mcpBlock{block}, Media{mime, data, rooted(n.path)}}, nil
}

type mcpReadManyIn struct {
	Paths []string `json:"paths" minItems:"1" jsonschema:"paths of the files to read"`
}

// mcpReadMany reads several files at one moment, as many as fit the cap of bytes together.
func mcpReadMany(g *guard, in mcpReadManyIn) (mcpOut, error) {
	parts := make([]string, 0, len(in.Paths))
	room := g.box.caps.ResultBytes
	for _, name := range in.Paths {
		if err := g.ctx.Err(); err != nil {
			return mcpOut{}, err
		}
		text, err := mcpText(g, name, lineRange{}, room)
		switch {
		case stops(err):
			return mcpOut{}, err
		case err != nil:
			parts = append(parts, name+": Error - "+mcpExplain(g.box, &nodeError{"open", g.box.shown(name), "", err}))
		default:
			room = max(0, room-len(text))
			parts = append(parts, name+":\n"+text+"\n")
		}
	}
	return mcpOut{strings.Join(parts, "\n---\n")}, nil
}

type mcpWriteIn struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (in mcpWriteIn) about() string { return in.Path }

func mcpWrite(g *guard, in mcpWriteIn) (mcpOut, error) {
	_, err := g.write(in.Path, []byte(in.Content), false, precondition{})
	return mcpOut{"Successfully wrote to " + in.Path}, err
}

type mcpEditIn struct {
	Path   string       `json:"path"`
	Edits  []mcpOneEdit `json:"edits"`
	DryRun bool         `json:"dryRun,omitempty" default:"false" jsonschema:"show the changes as a git-style diff, and change nothing"`
}

func (in mcpEditIn) about() string { return in.Path }

type mcpOneEdit struct {
	OldText string `json:"oldText" jsonschema:"text to search for; it has to match exactly"`
	NewText string `json:"newText" jsonschema:"text to put in its place"`
}

func mcpEdit(g *guard, in mcpEditIn) (mcpOut, error) {
	g.dry = in.DryRun
	w, err := g.rewrite(in.Path, precondition{}, func(old string) (string, int, error) {
		crlf := strings.Count(old, "\n") > 0 && strings.Count(old, "\n") == strings.Count(old, "\r\n")
		text := old
		if crlf {
			text = unixBreaks(text)
		}
		for i, e := range in.Edits {
			if err := g.ctx.Err(); err != nil {
				return "", 0, err
			}
			if crlf {
				e.OldText, e.NewText = unixBreaks(e.OldText), unixBreaks(e.NewText)
			}
			next, ok := mcpReplace(text, e)
			if !ok {
				return "", 0, &EditError{Path: g.box.shown(in.Path), Index: i, Of: len(in.Edits), Old: in.Edits[i].OldText, Err: &vfs.MatchError{}}
			}
			text = next
		}
		if crlf {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		return text, len(in.Edits), nil
	})
	if err != nil {
		return mcpOut{}, err
	}
	text, _ := cut(mcpDiff(rooted(w.path), w.before, w.after), g.box.caps.ResultBytes)
	return mcpOut{text}, nil
}

// mcpReplace replaces the first occurrence of an edit's text; if there is none, the first lines that are the same but
// for spaces at their ends. These keep their indentation. An empty text occurs first at the start.
func mcpReplace(text string, e mcpOneEdit) (string, bool) {
	if head, tail, ok := strings.Cut(text, e.OldText); ok {
		return head + e.NewText + tail, true
	}
	lines, old := strings.Split(text, "\n"), strings.Split(e.OldText, "\n")
	for i := 0; i+len(old) <= len(lines); i++ {
		if there := lines[i : i+len(old)]; sameTrimmed(there, old) {
			changed := append(reindented(strings.Split(e.NewText, "\n"), old, there), lines[i+len(old):]...)
			return strings.Join(append(lines[:i:i], changed...), "\n"), true
		}
	}
	return "", false
}

func sameTrimmed(a, b []string) bool {
	for i := range a {
		if strings.TrimSpace(a[i]) != strings.TrimSpace(b[i]) {
			return false
		}
	}
	return true
}

// reindented gives new lines the indentation of the lines that are there. A new line stands as deep as the nearest old
// one that is indented alike; if there is none, deeper or less deep than the one in its place by the difference.
func reindented(now, old, there []string) []string {
	out := make([]string, len(now))
	for i, line := range now {
		text := strings.TrimLeft(line, " \t")
		if text == "" {
			continue
		}
		gets := indentOf(line)
		at, more := alike(old, i, gets), 0
		if at < 0 {
			at = min(i, len(old)-1)
			more = len(gets) - len(indentOf(old[at]))
		}
		has := indentOf(there[at])
		if more >= 0 {
			has += gets[len(gets)-more:]
		} else {
			has = has[:max(0, len(has)+more)]
		}
		out[i] = has + text
	}
	return out
}

// alike returns the index of the line with an indentation that is nearest to i, the earlier of two; -1 if there is
// none.
func alike(lines []string, i int, indent string) int {
	best := -1
	for k, line := range lines {
		near := best < 0 || max(k-i, i-k) < max(best-i, i-best)
		if near && strings.TrimSpace(line) != "" && indentOf(line) == indent {
			best = k
		}
	}
	return best
}

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// mcpDiff is a diff inside a fence of backticks that no line of it can close.
func mcpDiff(name string, before, after []byte) string {
	body := diff.Diff(name, before, name, after)
	for range 3 { // its own header
		_, body, _ = bytes.Cut(body, []byte("\n"))
	}
	text := "Index: " + name + "\n" + strings.Repeat("=", 67) + "\n--- " + name + "\toriginal\n+++ " + name + "\tmodified\n" + valid(string(body))
	ticks := "```"
	for strings.Contains(text, ticks) {
		ticks += "`"
	}
	return ticks + "diff\n" + text + ticks + "\n\n"
}

func mcpInfo(g *guard, in mcpPathIn) (mcpOut, error) {
	n, err := g.stat(in.Path, follow)
	if err != nil {
		return mcpOut{}, err
	}
	when := func(t time.Time) string {
		return t.UTC().Format("Mon Jan 02 2006 15:04:05 GMT+0000 (Coordinated Universal Time)")
	}
	i := n.info
	// When a file was read is not kept: what is told is when it was written.
	return mcpOut{fmt.Sprintf("size: %d\ncreated: %s\nmodified: %s\naccessed: %s\nisDirectory: %t\nisFile: %t\npermissions: %03o",
		i.Size(), when(i.BirthTime()), when(i.ModTime()), when(i.ModTime()), i.IsDir(), i.Mode().IsRegular(), i.Mode().Perm())}, nil
}
