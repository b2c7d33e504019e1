package mcpfs

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

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/texts"
	"vfsdb/vfs"
)

type readIn struct {
	Path string `json:"path"`
	Tail int    `json:"tail,omitempty" min:"0" jsonschema:"if given, only the last so many lines"`
	Head int    `json:"head,omitempty" min:"0" jsonschema:"if given, only the first so many lines"`
}

func (in readIn) About() string { return in.Path }

func read(g *tool.Guard, in readIn) (result, error) {
	if in.Head > 0 && in.Tail > 0 {
		return result{}, tool.Refuse(syscall.EINVAL, "Cannot specify both head and tail parameters simultaneously")
	}
	text, err := readText(g, in.Path, tool.LineRange{End: in.Head, Tail: in.Tail}, g.Caps().ResultBytes)
	return result{text}, err
}

// readText returns a text file, or some of its lines, which then end without a line break. Text beyond the limit is
// refused: if a model wrote a cut text back, the rest would be lost.
func readText(g *tool.Guard, name string, r tool.LineRange, limit int) (string, error) {
	v, err := g.ReadLines(name, r, min(limit, vfs.MaxEditSize))
	switch {
	case err != nil:
		return "", err
	case v.Omitted > 0:
		return "", tool.Refuse(syscall.EFBIG, "'%s' has %d bytes more than the %d that fit a result. Read it in parts, with head or tail", v.Path(), v.Omitted, len(v.Data))
	case v.Binary:
		return "", tool.Refuse(syscall.EINVAL, "'%s' is no text: %s, %d bytes. Try read_media_file", v.Path(), v.Mime, v.Info().Size())
	}
	text := nodeText(v.Data)
	if r.End > 0 || r.Tail > 0 {
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

type pathIn struct {
	Path string `json:"path"`
}

func (in pathIn) About() string { return in.Path }

type contentBlock struct {
	Type     string    `json:"type" enum:"image,audio,resource"`
	Data     string    `json:"data,omitempty" jsonschema:"of an image or audio"`
	MIMEType string    `json:"mimeType,omitempty" jsonschema:"of an image or audio"`
	Resource *resource `json:"resource,omitempty" jsonschema:"any other file"`
}

type resource struct {
	URI      string `json:"uri" jsonschema:"the path of the file"`
	MIMEType string `json:"mimeType"`
	Blob     string `json:"blob"`
}

type mediaOut struct {
	Content []contentBlock `json:"content"`

	file tool.Media
}

func (o mediaOut) Text() string {
	return fmt.Sprintf("[%s, %d bytes]", o.file.MIMEType, len(o.file.Data))
}

func (o mediaOut) Media() []tool.Media { return []tool.Media{o.file} }

// types are the types of files by the ends of their names.
var types = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".bmp": "image/bmp", ".svg": "image/svg+xml",
	".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg", ".flac": "audio/flac",
}

func media(g *tool.Guard, in pathIn) (mediaOut, error) {
	n, err := g.Open(in.Path)
	if err != nil {
		return mediaOut{}, err
	}
	if n.Info().Size() > policy.MaxImage {
		return mediaOut{}, &policy.SizeError{Path: n.Path(), Size: n.Info().Size(), Max: policy.MaxImage}
	}

	data, err := g.Content(n)
	if err != nil {
		return mediaOut{}, err
	}
	mime, ok := types[strings.ToLower(path.Ext(n.Path()))]
	if !ok {
		mime = "application/octet-stream"
	}

	text := base64.StdEncoding.EncodeToString(data)
	kind, _, _ := strings.Cut(mime, "/")
	block := contentBlock{Type: kind, Data: text, MIMEType: mime}
	if kind == "application" {
		block = contentBlock{Type: "resource", Resource: &resource{n.Path(), mime, text}}
	}

	return mediaOut{[]contentBlock{block}, tool.Media{MIMEType: mime, Data: data, Path: n.Path()}}, nil
}

type readManyIn struct {
	Paths []string `json:"paths" minItems:"1" jsonschema:"paths of the files to read"`
}

// readMany reads several files at one moment, as many as fit the cap of bytes together.
func readMany(g *tool.Guard, in readManyIn) (result, error) {
	parts := make([]string, 0, len(in.Paths))
	room := g.Caps().ResultBytes
	for _, name := range in.Paths {
		if err := g.Context().Err(); err != nil {
			return result{}, err
		}
		text, err := readText(g, name, tool.LineRange{}, room)
		switch {
		case tool.Stops(err):
			return result{}, err
		case err != nil:
			parts = append(parts, name+": Error - "+g.Explain(&tool.CallError{Op: "open", Path: g.Shown(name), Err: err}))
		default:
			room = max(0, room-len(text))
			parts = append(parts, name+":\n"+text+"\n")
		}
	}
	return result{strings.Join(parts, "\n---\n")}, nil
}

type writeIn struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (in writeIn) About() string { return in.Path }

func write(g *tool.Guard, in writeIn) (result, error) {
	_, err := g.Write(in.Path, []byte(in.Content), false, tool.Precondition{})
	return result{"Successfully wrote to " + in.Path}, err
}

type editIn struct {
	Path   string    `json:"path"`
	Edits  []oneEdit `json:"edits"`
	DryRun bool      `json:"dryRun,omitempty" default:"false" jsonschema:"show the changes as a git-style diff, and change nothing"`
}

func (in editIn) About() string { return in.Path }

type oneEdit struct {
	OldText string `json:"oldText" jsonschema:"text to search for; it has to match exactly"`
	NewText string `json:"newText" jsonschema:"text to put in its place"`
}

func edit(g *tool.Guard, in editIn) (result, error) {
	if in.DryRun {
		g = g.Dry()
	}
	w, err := g.Rewrite(in.Path, tool.Precondition{}, func(old string) (string, int, error) {
		crlf := strings.Count(old, "\n") > 0 && strings.Count(old, "\n") == strings.Count(old, "\r\n")
		text := old
		if crlf {
			text = texts.UnixBreaks(text)
		}

		for i, e := range in.Edits {
			if err := g.Context().Err(); err != nil {
				return "", 0, err
			}
			if crlf {
				e.OldText, e.NewText = texts.UnixBreaks(e.OldText), texts.UnixBreaks(e.NewText)
			}
			next, ok := replace(text, e)
			if !ok {
				return "", 0, &tool.EditError{Path: g.Shown(in.Path), Index: i, Of: len(in.Edits), Old: in.Edits[i].OldText, Err: &vfs.MatchError{}}
			}
			text = next
		}

		if crlf {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		return text, len(in.Edits), nil
	})
	if err != nil {
		return result{}, err
	}
	text, _ := texts.Cut(gitDiff(w.Path(), w.Before, w.After), g.Caps().ResultBytes)
	return result{text}, nil
}

// replace replaces the first occurrence of an edit's text; if there is none, the first lines that are the same but
// for spaces at their ends. The new lines keep the indentation of the old ones. An empty text occurs first at the
// start.
func replace(text string, e oneEdit) (string, bool) {
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

// gitDiff returns a diff inside a fence of backticks that no line of it can close.
func gitDiff(name string, before, after []byte) string {
	body := diff.Diff(name, before, name, after)
	for range 3 { // its own header
		_, body, _ = bytes.Cut(body, []byte("\n"))
	}
	text := "Index: " + name + "\n" + strings.Repeat("=", 67) + "\n--- " + name + "\toriginal\n+++ " + name + "\tmodified\n" + texts.Valid(string(body))
	ticks := "```"
	for strings.Contains(text, ticks) {
		ticks += "`"
	}
	return ticks + "diff\n" + text + ticks + "\n\n"
}

func info(g *tool.Guard, in pathIn) (result, error) {
	n, err := g.Stat(in.Path, tool.Follow)
	if err != nil {
		return result{}, err
	}
	when := func(t time.Time) string {
		return t.UTC().Format("Mon Jan 02 2006 15:04:05 GMT+0000 (Coordinated Universal Time)")
	}
	i := n.Info()
	// The store keeps no time of access. The time of the last write stands for it.
	return result{fmt.Sprintf("size: %d\ncreated: %s\nmodified: %s\naccessed: %s\nisDirectory: %t\nisFile: %t\npermissions: %03o",
		i.Size(), when(i.BirthTime()), when(i.ModTime()), when(i.ModTime()), i.IsDir(), i.Mode().IsRegular(), i.Mode().Perm())}, nil
}
