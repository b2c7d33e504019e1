package tool

import (
	"bytes"
	"io/fs"
	"syscall"
	"unicode/utf8"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool/texts"
	"vfsdb/internal/mimetype"
	"vfsdb/vfs"
)

// Open finds a regular file that may be read.
func (g *Guard) Open(name string) (*Node, error) {
	at, err := g.path(name, policy.Read, Follow)
	if err != nil {
		return nil, err
	}
	info, err := g.tx.Lstat(at)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: policy.Rooted(at), Err: syscall.EISDIR}
	}
	if err := g.readable(at, info.Size()); err != nil {
		return nil, err
	}
	n := &Node{path: at, info: info, perm: policy.Read}
	n.sum, err = g.sum(at, info)
	return n, err
}

// readAll reads a file whole. A file beyond vfs.MaxEditSize is EFBIG: no tool needs a larger one in memory.
func (g *Guard) readAll(name string) (*Node, []byte, error) {
	n, err := g.Open(name)
	if err != nil {
		return nil, nil, err
	}
	if n.info.Size() > vfs.MaxEditSize {
		return nil, nil, &policy.SizeError{Path: policy.Rooted(n.path), Size: n.info.Size(), Max: vfs.MaxEditSize}
	}
	data, err := g.tx.ReadFile(n.path)
	return n, data, err
}

// lineStep is how much of a file is read at a time while lines are counted.
const lineStep = 512 << 10

// A LineRange names lines of a file. The first line is 1.
type LineRange struct {
	Start int // 0 is the first
	End   int // the last one; 0 is the last of the file
	Tail  int // if set, this many lines from the end instead
	Page  int // if set, no more lines than fit this number of bytes, but one in any case
}

// A TextView is a part of a text file.
type TextView struct {
	*Node
	Data         []byte // the lines, with their line breaks, as far as the cap goes
	Start, End   int    // the lines in data; end is start-1 if there are none
	Total        int    // lines of the file
	Omitted      int    // bytes left out: of a range those beyond the cap, of a page all those behind it, of a tail those before it
	Binary       bool   // it looks binary, and data is empty
	Mime         string // of a binary file
	FinalNewline bool
}

// ReadLines reads a range of the lines of a text file, at most limit bytes of it. It goes through the whole file, a
// step at a time, to count the lines; for a tail twice.
func (g *Guard) ReadLines(name string, r LineRange, limit int) (*TextView, error) {
	n, err := g.Open(name)
	if err != nil {
		return nil, err
	}
	v := &TextView{Node: n}
	size := n.info.Size()
	head, err := g.tx.ReadRange(n.path, 0, min(size, lineStep))
	if err != nil {
		return nil, err
	}

	if vfs.LooksBinary(head) {
		v.Binary, v.Mime = true, mimetype.Of(n.path, head)
		return v, nil
	}
	c := lineCutter{LineRange: r, view: v, limit: limit}
	if r.Tail > 0 {
		total, err := g.countLines(n, head)
		if err != nil {
			return nil, err
		}
		c.Start, c.End = max(1, total-r.Tail+1), 0
	}

	c.Start = max(1, c.Start)
	if err := g.steps(n, head, c.take); err != nil {
		return nil, err
	}
	c.finish()
	return v, nil
}

// steps reads a file, a step at a time. head is the first step.
func (g *Guard) steps(n *Node, head []byte, take func(step []byte)) (err error) {
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

func (g *Guard) countLines(n *Node, head []byte) (int, error) {
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

// A lineCutter takes the lines of a range out of a file that it gets in steps.
type lineCutter struct {
	LineRange
	view    *TextView
	limit   int
	line    int  // of the next byte, counted from 0
	open    bool // the last byte was no line break
	at      int  // of data: where the line begins
	full    bool // the page is full
	dropped int  // lines of a tail that the cap left out
}

func (c *lineCutter) take(step []byte) {
	for len(step) > 0 {
		n := bytes.IndexByte(step, '\n') + 1
		ended := n > 0
		if !ended {
			n = len(step)
		}
		if line := c.line + 1; line >= c.Start && (c.End == 0 || line <= c.End) {
			c.keep(step[:n], line)
		} else if c.Page > 0 && c.view.Omitted > 0 {
			c.view.Omitted += n // all that is behind a page is omitted
		}
		if ended {
			c.line++
			c.turnPage()
			c.at = len(c.view.Data)
		}
		c.open = !ended
		step = step[n:]
	}
}

// keep takes a line, or a piece of one, as far as the cap goes. The cap of a tail drops what is oldest.
func (c *lineCutter) keep(piece []byte, line int) {
	v := c.view
	if c.Tail > 0 {
		v.Data = append(v.Data, piece...)
		v.End = line
		if len(v.Data) > 2*c.limit+lineStep {
			c.dropOldest()
		}
		return
	}
	room := max(0, min(len(piece), c.limit-len(v.Data)))
	if v.Omitted > 0 {
		room = 0
	}
	v.Data = append(v.Data, piece[:room]...)
	v.Omitted += len(piece) - room
	if room > 0 || c.limit == 0 {
		v.End = line
	}
}

// turnPage ends the range once the page is full: before the line that was taken last, unless it is the first.
func (c *lineCutter) turnPage() {
	v := c.view
	if c.Page == 0 || len(v.Data) <= c.Page || c.full {
		return
	}
	c.full = true
	if v.End > c.Start {
		v.Data, v.Omitted = v.Data[:c.at], 0
		v.End--
	}
	c.End = v.End
}

// dropOldest cuts a tail to its last bytes, within the cap, at the start of a rune.
func (c *lineCutter) dropOldest() {
	v := c.view
	kept, dropped := texts.Last(string(v.Data), c.limit)
	v.Omitted += dropped
	c.dropped += bytes.Count(v.Data[:dropped], []byte{'\n'})
	v.Data = append(v.Data[:0], kept...)
}

func (c *lineCutter) finish() {
	v := c.view
	v.FinalNewline = !c.open
	v.Total = c.line
	if c.open {
		v.Total++
		c.turnPage()
	}

	v.Start = min(c.Start, v.Total+1)
	if c.Tail > 0 {
		c.dropOldest()
		v.Start += c.dropped
		return
	}
	if len(v.Data) == 0 {
		v.End = v.Start - 1
	}

	if v.Omitted == 0 {
		return
	}
	// Cut at the start of a rune.
	for i := 1; i < utf8.UTFMax && i <= len(v.Data); i++ {
		if at := len(v.Data) - i; utf8.RuneStart(v.Data[at]) {
			if !utf8.FullRune(v.Data[at:]) {
				v.Omitted += i
				v.Data = v.Data[:at]
			}
			break
		}
	}
}
