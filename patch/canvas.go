package patch

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"vfsdb/internal/gitname"
	"vfsdb/textdiff"
)

// The styles of git: escape sequences.
const (
	bold  = "\x1b[1m"
	cyan  = "\x1b[36m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	reset = "\x1b[m"
)

// A canvas is the text of a place in the making. Its memory is used again.
type canvas struct {
	*Options
	text  bytes.Buffer
	body  bytes.Buffer // hunks, before they are finished
	apart bool         // files of different names are two files, and not one that was renamed
}

// start begins the text of a place.
func (c *canvas) start(o *Options) {
	c.Options = o
	c.text.Reset()
}

// paint writes a line without its line feed in a style, and the line feed.
func (c *canvas) paint(style string, line []byte) {
	if !c.Color || style == "" || len(line) == 0 {
		c.text.Write(line)
	} else {
		c.text.WriteString(style)
		c.text.Write(line)
		c.text.WriteString(reset)
	}
	c.text.WriteByte('\n')
}

// meta writes a line of a header.
func (c *canvas) meta(format string, args ...any) { c.paint(bold, fmt.Appendf(nil, format, args...)) }

// comment writes a line that no program reads.
func (c *canvas) comment(path, note string) {
	c.paint("", fmt.Appendf(nil, "# %s: %s", gitname.Quote(path), note))
}

// header writes the lines in front of the contents. like is how much of a is in b, in percent.
func (c *canvas) header(a, b side, like int) {
	c.meta("diff --git %s %s", gitname.Quote("a/"+a.path), gitname.Quote("b/"+b.path))

	switch {
	case a.mode == "":
		c.meta("new file mode %s", b.mode)
	case b.mode == "":
		c.meta("deleted file mode %s", a.mode)
	case a.mode != b.mode:
		c.meta("old mode %s", a.mode)
		c.meta("new mode %s", b.mode)
	}
	if a.path != b.path && !c.apart {
		c.meta("similarity index %d%%", like)
		c.meta("rename from %s", gitname.Quote(a.path))
		c.meta("rename to %s", gitname.Quote(b.path))
	}

	if like == 100 || !a.held || !b.held {
		return
	}
	mode := ""
	if a.mode == b.mode {
		mode = " " + a.mode
	}
	c.meta("index %s..%s%s", c.id(a), c.id(b), mode)
}

// id returns the id that git gives a content.
func (c *canvas) id(s side) string {
	id := strings.Repeat("0", 2*sha1.Size)
	if s.mode != "" {
		h := sha1.New()
		fmt.Fprintf(h, "blob %d\x00", len(s.data))
		h.Write(s.data)
		id = hex.EncodeToString(h.Sum(nil))
	}
	if c.Binary {
		return id
	}
	return id[:7]
}

// names returns how both sides of a section are called before their contents.
func names(a, b side) (before, after string) {
	before, after = gitname.Quote("a/"+a.path), gitname.Quote("b/"+b.path)
	if a.mode == "" {
		before = "/dev/null"
	}
	if b.mode == "" {
		after = "/dev/null"
	}
	return before, after
}

// binary writes that two contents differ of which one is not text, or both contents.
func (c *canvas) binary(a, b side) error {
	if !c.Binary {
		before, after := names(a, b)
		c.paint("", fmt.Appendf(nil, "Binary files %s and %s differ", before, after))
		return nil
	}
	c.paint("", []byte("GIT binary patch"))
	if err := literal(&c.text, b.data); err != nil {
		return err
	}
	return literal(&c.text, a.data)
}

// hunks writes the names of both sides, and the hunks.
func (c *canvas) hunks(a, b side, x, y textdiff.Text, hunks []textdiff.Hunk) error {
	if len(hunks) == 0 {
		return nil
	}
	before, after := names(a, b)
	c.named("---", before)
	c.named("+++", after)

	around := c.Context
	switch {
	case around == 0:
		around = 3
	case around < 0:
		around = 0
	}
	c.body.Reset()
	if err := textdiff.Unified(&c.body, x, y, hunks, around); err != nil {
		return err
	}
	if c.Words {
		c.words(x)
	} else {
		c.lines(x)
	}
	return nil
}

// named writes the name of a side. A tab ends one that has a space: patch would take what follows the space for a time.
func (c *canvas) named(mark, name string) {
	c.meta("%s %s", mark, name)
	if strings.Contains(name, " ") {
		c.text.Truncate(c.text.Len() - 1)
		c.text.WriteString("\t\n")
	}
}

// lines writes the hunks of the body.
func (c *canvas) lines(old textdiff.Text) {
	f := functions{text: old, last: -1}
	for line := range bytes.Lines(c.body.Bytes()) {
		if line[0] == '@' {
			c.place(line, f.of(line))
			continue
		}
		if !c.Color {
			c.text.Write(line)
			continue
		}
		style := ""
		switch line[0] {
		case '-':
			style = red
		case '+':
			style = green
		}
		c.paint(style, bytes.TrimSuffix(line, []byte("\n")))
	}
}

// place writes the header of a hunk, with the function that it is in.
func (c *canvas) place(header, function []byte) {
	header = bytes.TrimSuffix(header, []byte("\n"))
	if c.Color {
		c.text.WriteString(cyan)
	}
	c.text.Write(header)
	if c.Color {
		c.text.WriteString(reset)
	}
	if len(function) > 0 {
		c.text.WriteByte(' ')
		c.text.Write(function)
	}
	c.text.WriteByte('\n')
}

// functions finds the lines that git takes for the beginnings of functions: those that begin with a letter, '_' or '$'.
type functions struct {
	text textdiff.Text
	last int    // the line from which the search for the hunk before went back
	name []byte // what it found
}

// of returns the last such line before a hunk, which its header places in the old text.
func (f *functions) of(header []byte) []byte {
	const most = 80
	from, count := oldPlace(header)
	if count > 0 {
		from--
	}
	for i := from - 1; i > f.last && i >= 0; i-- {
		line := f.text.Line(i)
		if c := line[0]; c|0x20 < 'a' || c|0x20 > 'z' {
			if c != '_' && c != '$' {
				continue
			}
		}
		f.name = bytes.TrimRight(line[:min(len(line), most)], " \t\n\v\f\r")
		break
	}
	f.last = from - 1
	return f.name
}

// oldPlace reads the line and the count of lines of the old text from a header: @@ -line,count +line,count @@.
func oldPlace(header []byte) (line, count int) {
	place, _, _ := bytes.Cut(bytes.TrimPrefix(header, []byte("@@ -")), []byte(" "))
	first, n, several := bytes.Cut(place, []byte(","))
	line, _ = strconv.Atoi(string(first))
	count = 1
	if several {
		count, _ = strconv.Atoi(string(n))
	}
	return line, count
}
