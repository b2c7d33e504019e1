package agent

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"unicode/utf8"

	"vfsdb/internal/mimetype"
	"vfsdb/vfs"
)

// open finds a regular file that may be read.
func (g *guard) open(name string) (*node, error) {
	at, err := g.path(name, PermRead, follow)
	if err != nil {
		return nil, err
	}
	info, err := g.tx.Lstat(at)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: rooted(at), Err: syscall.EISDIR}
	}
	if err := g.readable(at, info.Size()); err != nil {
		return nil, err
	}
	n := &node{path: at, info: info}
	n.sum, err = g.sum(at, info)
	return n, err
}

// readAll reads a file whole. One beyond vfs.MaxEditSize is EFBIG: nothing here needs more of one in memory.
func (g *guard) readAll(name string) (*node, []byte, error) {
	n, err := g.open(name)
	if err != nil {
		return nil, nil, err
	}
	if n.info.Size() > vfs.MaxEditSize {
		return nil, nil, &SizeError{rooted(n.path), n.info.Size(), vfs.MaxEditSize}
	}
	data, err := g.tx.ReadFile(n.path)
	return n, data, err
}

// lineStep is how much of a file is read at a time while lines are counted.
const lineStep = 512 << 10

// A lineRange says which lines of a file to read. The first line is 1.
type lineRange struct {
	start int // 0 is the first
	end   int // the last one; 0 is the last of the file
	tail  int // if set, this many lines from the end instead
	page  int // if set, no more lines than fit in so many bytes, but one in any case
}

// A textView is a part of a text file.
type textView struct {
	*node
	data         []byte // the lines, with their line breaks, as far as the cap goes
	start, end   int    // the lines in data; end is start-1 if there are none
	total        int    // lines of the file
	omitted      int    // bytes of the range beyond the cap, of a page all those behind it; of a tail those before it
	binary       bool   // it looks binary, and data is empty
	mime         string // of a binary file
	finalNewline bool
}

// readLines reads a range of the lines of a text file, at most limit bytes of it. The whole file is gone through, a
// step at a time, to count its lines; for a tail twice.
func (g *guard) readLines(name string, r lineRange, limit int) (*textView, error) {
	n, err := g.open(name)
	if err != nil {
		return nil, err
	}
	v := &textView{node: n}
	size := n.info.Size()
	head, err := g.tx.ReadRange(n.path, 0, min(size, lineStep))
	if err != nil {
		return nil, err
	}
	if vfs.LooksBinary(head) {
		v.binary, v.mime = true, mimetype.Of(n.path, head)
		return v, nil
	}
	c := lineCutter{lineRange: r, view: v, limit: limit}
	if r.tail > 0 {
		total, err := g.countLines(n, head)
		if err != nil {
			return nil, err
		}
		c.start, c.end = max(1, total-r.tail+1), 0
	}
	c.start = max(1, c.start)
	if err := g.steps(n, head, c.take); err != nil {
		return nil, err
	}
	c.finish()
	return v, nil
}

// steps goes through a file, a step at a time. head is the first step.
func (g *guard) steps(n *node, head []byte, take func(step []byte)) (err error) {
	size := n.info.Size()
	for off, step := int64(0), head; len(step) > 0; {
		take(step)
		if off += int64(len(step)); off >= size {
			break
		}
		if err := g.ctx.Err(); err != nil {
			return err
		}
		if step, err = g.tx.ReadRange(n.path, off, min(size-off, lineStep)); err != nil {
			return err
		}
	}
	return nil
}

func (g *guard) countLines(n *node, head []byte) (int, error) {
	lines, last := 0, byte('\n')
	err := g.steps(n, head, func(step []byte) {
		lines += bytes.Count(step, []byte{'\n'})
		last = step[len(step)-1]
	})
	if last != '\n' {
		lines++
	}
	return lines, err
}

// A lineCutter takes the lines of a range out of a file that goes by.
type lineCutter struct {
	lineRange
	view    *textView
	limit   int
	line    int  // of the next byte, counted from 0
	open    bool // the last byte was no line break
	at      int  // of data: where the line begins
	full    bool // the page is
	dropped int  // lines of a tail, for the cap
}

func (c *lineCutter) take(step []byte) {
	for len(step) > 0 {
		n := bytes.IndexByte(step, '\n') + 1
		ended := n > 0
		if !ended {
			n = len(step)
		}
		if line := c.line + 1; line >= c.start && (c.end == 0 || line <= c.end) {
			c.keep(step[:n], line)
		} else if c.page > 0 && c.view.omitted > 0 {
			c.view.omitted += n // what is behind a page is omitted with it
		}
		if ended {
			c.line++
			c.turnPage()
			c.at = len(c.view.data)
		}
		c.open = !ended
		step = step[n:]
	}
}

// keep takes a line, or a piece of one, as far as the cap goes. The cap of a tail drops what is oldest.
func (c *lineCutter) keep(piece []byte, line int) {
	v := c.view
	if c.tail > 0 {
		v.data = append(v.data, piece...)
		v.end = line
		if len(v.data) > 2*c.limit+lineStep {
			c.dropOldest()
		}
		return
	}
	room := max(0, min(len(piece), c.limit-len(v.data)))
	if v.omitted > 0 {
		room = 0
	}
	v.data = append(v.data, piece[:room]...)
	v.omitted += len(piece) - room
	if room > 0 || c.limit == 0 {
		v.end = line
	}
}

// turnPage ends the range once the page is full: before the line that was taken last, unless it is the first.
func (c *lineCutter) turnPage() {
	v := c.view
	if c.page == 0 || len(v.data) <= c.page || c.full {
		return
	}
	c.full = true
	if v.end > c.start {
		v.data, v.omitted = v.data[:c.at], 0
		v.end--
	}
	c.end = v.end
}

// dropOldest cuts a tail to its last bytes, within the cap, at the start of a rune.
func (c *lineCutter) dropOldest() {
	v := c.view
	kept, dropped := lastBytes(string(v.data), c.limit)
	v.omitted += dropped
	c.dropped += bytes.Count(v.data[:dropped], []byte{'\n'})
	v.data = append(v.data[:0], kept...)
}

// lastBytes is the end of a text, at most limit bytes, from the start of a rune, and how many bytes are before it.
func lastBytes(text string, limit int) (string, int) {
	from := max(0, len(text)-limit)
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return text[from:], from
}

func (c *lineCutter) finish() {
	v := c.view
	v.finalNewline = !c.open
	v.total = c.line
	if c.open {
		v.total++
		c.turnPage()
	}
	v.start = min(c.start, v.total+1)
	if c.tail > 0 {
		c.dropOldest()
		v.start += c.dropped
		return
	}
	if len(v.data) == 0 {
		v.end = v.start - 1
	}
	if v.omitted == 0 {
		return
	}
	// Cut at the start of a rune.
	for i := 1; i < utf8.UTFMax && i <= len(v.data); i++ {
		if at := len(v.data) - i; utf8.RuneStart(v.data[at]) {
			if !utf8.FullRune(v.data[at:]) {
				v.omitted += i
				v.data = v.data[:at]
			}
			break
		}
	}
}

// numbered puts the number of each line before it: six wide and a tab, as cat -n does.
func numbered(text string, first int) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	line := first
	for rest := text; rest != ""; line++ {
		n := strings.IndexByte(rest, '\n') + 1
		if n == 0 {
			n = len(rest)
		}
		fmt.Fprintf(&b, "%6d\t%s", line, rest[:n])
		rest = rest[n:]
	}
	return b.String()
}
