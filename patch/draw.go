package patch

import (
	"io"
	"syscall"

	"vfsdb/internal/gitname"
	"vfsdb/node"
	"vfsdb/textdiff"
	"vfsdb/tree"
)

// maxText is the length of the longest file that is compared as text, and maxBinary of the longest one that a patch has whole.
const (
	maxText   = 64 << 20
	maxBinary = tree.MaxReadSize
)

// A drawer draws one place after the other, in memory that it uses again.
type drawer struct {
	o        *Options
	old, now *tree.Tx
	to       canvas
	data     [2][]byte        // of both sides
	lines    [2]textdiff.Text // the same
}

// file draws a place. Its text is empty if nothing differs.
func (d *drawer) file(p *place) (f File, err error) {
	f.Path = p.path
	old, now := p.old, p.now
	if p.moved {
		old = nil
	}
	if p.from != nil {
		f.From, old = p.from.path, p.from.old
	}
	f.Old, f.New = node.InfoOf(old), node.InfoOf(now)

	d.to.start(d.o)
	if f.Note, err = d.note(p, old, now); err != nil {
		return f, err
	}
	if f.Note != "" {
		d.to.comment(p.path, f.Note)
	}
	noted := d.to.text.Len()
	if err := d.sections(&f, old, now); err != nil {
		return f, err
	}
	f.Text = d.to.text.Bytes()
	f.Noted = len(f.Text) > 0 && len(f.Text) == noted
	return f, nil
}

// sections draws one file, as far as a patch can show it: nil is none. A file of another type is another file.
func (d *drawer) sections(f *File, old, now *node.Node) error {
	if !drawn(old) {
		old = nil
	}
	if !drawn(now) {
		now = nil
	}
	if old != nil && now != nil && old.Kind() != now.Kind() {
		if err := d.section(f, old, nil); err != nil {
			return err
		}
		old = nil
	}
	return d.section(f, old, now)
}

// section draws one file: nil is none.
func (d *drawer) section(f *File, old, now *node.Node) error {
	if old == nil && now == nil {
		return nil
	}
	was := f.Path
	if f.From != "" {
		was = f.From
	}
	same := old != nil && now != nil && old.Content == now.Content && old.Target == now.Target
	a, b := side{path: was, mode: modeOf(old)}, side{path: f.Path, mode: modeOf(now)}
	if same && (f.From == "" || d.to.apart) && a.mode == b.mode {
		return nil
	}
	if same {
		d.to.header(a, b, 100)
		return nil
	}

	if err := d.read(d.old, old, &a, &d.data[0]); err != nil {
		return err
	}
	if err := d.read(d.now, now, &b, &d.data[1]); err != nil {
		return err
	}
	if !a.text || !b.text {
		f.Binary = true
		d.to.header(a, b, likeness(a.data, b.data))
		return d.to.binary(a, b)
	}

	d.lines[0].Reset(a.data)
	d.lines[1].Reset(b.data)
	x, y := d.lines[0], d.lines[1]
	hunks := textdiff.Compare(x, y)
	kept := len(a.data)
	for _, h := range hunks {
		f.Removed += h.A.Len()
		f.Added += h.B.Len()
		kept -= len(x.Lines(h.A))
	}
	d.to.header(a, b, percent(kept, max(len(a.data), len(b.data))))
	return d.to.hunks(a, b, x, y, hunks)
}

// A side is a file on one side of a section. Without a mode there is none.
type side struct {
	path, mode string
	data       []byte
	text       bool // the data are compared by line
	held       bool // the data are there, or there is no file
}

// read reads a file, into memory that it may use: of a symlink its target. One that is too long for what it is needed for is not
// read.
func (d *drawer) read(tx *tree.Tx, n *node.Node, s *side, memory *[]byte) error {
	s.text, s.held = true, true
	if n == nil {
		return nil
	}
	size := n.Content.Size
	switch {
	case n.Kind() == node.KindLink:
		s.data = []byte(n.Target)
		return nil
	case size > maxText && !d.o.Binary:
		s.text, s.held = false, false
		return nil
	case size > maxBinary:
		return syscall.EFBIG
	}

	r := tx.Stream(n.Content)
	defer r.Release()
	if err := r.Check(tx.DB()); err != nil {
		return err // a length that is damaged is found before memory is taken for it
	}
	if int64(cap(*memory)) < size {
		*memory = make([]byte, size+size/4)
	}
	s.data = (*memory)[:size]
	const part = 8 << 20
	for at := int64(0); at < size; at += part {
		if err := tx.DB().Context().Err(); err != nil {
			return err
		}
		_, err := r.ReadAt(tx.DB(), s.data[at:min(size, at+part)], at)
		if err != nil && err != io.EOF {
			return err
		}
	}
	s.text = size <= maxText && !textdiff.Binary(s.data)
	return nil
}

// modeOf returns the mode of a file as git has it: "" if there is none.
func modeOf(n *node.Node) string {
	if n == nil {
		return ""
	}
	return gitname.Mode(node.FileMode(n.Mode))
}

// likeness returns how much of a binary file is in another one, in percent: what both begin and end with.
func likeness(a, b []byte) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	front := 0
	for front < len(a) && a[front] == b[front] {
		front++
	}
	back := 0
	for back < len(a)-front && a[len(a)-1-back] == b[len(b)-1-back] {
		back++
	}
	return percent(front+back, len(b))
}

// percent returns a part of a whole that differs.
func percent(part, whole int) int {
	if whole == 0 {
		return 0
	}
	return min(99, int(int64(part)*100/int64(whole)))
}
