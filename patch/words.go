package patch

import (
	"bytes"

	"vfsdb/textdiff"
)

// words writes the hunks of the body by word.
func (c *canvas) words(old textdiff.Text) {
	f := functions{text: old, last: -1}
	var removed, added []byte
	flush := func() {
		c.merged(removed, added)
		removed, added = removed[:0], added[:0]
	}

	for line := range bytes.Lines(c.body.Bytes()) {
		switch line[0] {
		case '-':
			removed = append(removed, line[1:]...)
		case '+':
			added = append(added, line[1:]...)
		case '\\': // the line before has no line feed, which is no word
		default:
			flush()
			if line[0] == '@' {
				c.place(line, f.of(line))
			} else {
				c.text.Write(line[1:])
			}
		}
	}
	flush()
}

// merged writes two texts as one, in which the words that differ are marked. What stands between is that of the second text.
func (c *canvas) merged(a, b []byte) {
	if len(b) == 0 {
		c.marked(red, "[-", a, "-]")
		return
	}
	at := 0
	for _, h := range textdiff.Fields(a, b) {
		c.text.Write(b[at:h.B.From])
		c.marked(red, "[-", a[h.A.From:h.A.To], "-]")
		c.marked(green, "{+", b[h.B.From:h.B.To], "+}")
		at = h.B.To
	}
	c.text.Write(b[at:])
}

// marked writes words between marks. A line feed stands outside of them.
func (c *canvas) marked(style, open string, words []byte, end string) {
	for line := range bytes.Lines(words) {
		text := bytes.TrimSuffix(line, []byte("\n"))
		if len(text) > 0 {
			if c.Color {
				c.text.WriteString(style)
			}
			c.text.WriteString(open)
			c.text.Write(text)
			c.text.WriteString(end)
			if c.Color {
				c.text.WriteString(reset)
			}
		}
		if len(text) < len(line) {
			c.text.WriteByte('\n')
		}
	}
}
