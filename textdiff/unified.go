package textdiff

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"syscall"
)

// Unified writes hunks from a to b as the body of a patch, with that many common lines of context around each. Hunks whose
// context touches share a header. The lines that name the files are the caller's; with them, git apply and patch -p1 take
// the patch. No hunks write nothing. A negative context is an error, as are hunks that are not those of a and b.
func Unified(w io.Writer, a, b Text, hunks []Hunk, context int) error {
	if context < 0 {
		return fmt.Errorf("write a patch with %d lines of context: %w", context, syscall.EINVAL)
	}
	p := patch{a: a, b: b, context: context}
	if !p.fits(hunks) {
		return fmt.Errorf("write a patch: the hunks are not in these texts: %w", syscall.EINVAL)
	}

	if text, ok := w.(*bytes.Buffer); ok { // it needs no other
		p.w = text
		p.groups(hunks)
		return nil
	}
	buffered := bufio.NewWriter(w)
	p.w = buffered
	p.groups(hunks)
	return buffered.Flush()
}

// groups writes all hunks.
func (p *patch) groups(hunks []Hunk) {
	for len(hunks) > 0 {
		n := p.together(hunks)
		p.group(hunks[:n])
		hunks = hunks[n:]
	}
}

// A patch is a patch in the making. Errors of its writer are kept there until the end.
type patch struct {
	w interface {
		io.Writer
		io.ByteWriter
		io.StringWriter
	}
	a, b    Text
	context int
}

// fits reports whether the hunks are in order and within the texts, with as many common lines on both sides.
func (p *patch) fits(hunks []Hunk) bool {
	at := Hunk{}
	for _, h := range hunks {
		gap := h.A.From - at.A.To
		if gap < 0 || gap != h.B.From-at.B.To || h.A.Len() < 0 || h.B.Len() < 0 {
			return false
		}
		at = h
	}
	return p.a.Len()-at.A.To == p.b.Len()-at.B.To && at.A.To <= p.a.Len()
}

// together counts the first hunks whose contexts touch.
func (p *patch) together(hunks []Hunk) int {
	n := 1
	for n < len(hunks) && (hunks[n].A.From-hunks[n-1].A.To+1)/2 <= p.context {
		n++
	}
	return n
}

// group writes a header, and the lines of some hunks with their context.
func (p *patch) group(hunks []Hunk) {
	first, last := hunks[0], hunks[len(hunks)-1]
	before := min(p.context, first.A.From)
	after := min(p.context, p.a.Len()-last.A.To)
	p.header(
		Range{first.A.From - before, last.A.To + after},
		Range{first.B.From - before, last.B.To + after},
	)

	at := first.A.From - before
	for _, h := range hunks {
		p.lines(' ', p.a, Range{at, h.A.From})
		p.lines('-', p.a, h.A)
		p.lines('+', p.b, h.B)
		at = h.A.To
	}
	p.lines(' ', p.a, Range{at, at + after})
}

// header writes which lines of both files a group covers.
func (p *patch) header(a, b Range) {
	p.w.WriteString("@@ -")
	p.place(a)
	p.w.WriteString(" +")
	p.place(b)
	p.w.WriteString(" @@\n")
}

// place writes the first line of r, counted from 1, and the count of lines if it is not 1. Where no lines are, the line
// before stands for the place.
func (p *patch) place(r Range) {
	line := r.From + 1
	if r.Len() == 0 {
		line--
	}
	p.w.WriteString(strconv.Itoa(line))
	if r.Len() != 1 {
		p.w.WriteByte(',')
		p.w.WriteString(strconv.Itoa(r.Len()))
	}
}

// lines writes the lines in r behind a mark.
func (p *patch) lines(mark byte, t Text, r Range) {
	for i := r.From; i < r.To; i++ {
		line := t.Line(i)
		p.w.WriteByte(mark)
		p.w.Write(line)
		if line[len(line)-1] != '\n' {
			p.w.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
