package page

import "fmt"

// The kinds of pages of a b-tree, by their first byte. Those of tables have rows by their numbers, those of indexes by their
// contents.
const (
	indexInner = 2
	tableInner = 5
	indexLeaf  = 10
	tableLeaf  = 13
)

// fileHead is the length of the header of the file, before the b-tree of page 1.
const fileHead = 100

// tree clears a page of a b-tree and the chains of its rows, and leaves the pages below it to be done.
func (w *walker) tree(number int64) error {
	p := w.page
	if err := w.take(number, p); err != nil {
		return err
	}
	at := 0
	if number == 1 {
		at = fileHead
	}

	kind, cells, list := p[at], be16(p[at+3:]), at+8
	switch kind {
	case indexInner, tableInner:
		list += 4
		w.todo = append(w.todo, int64(be32(p[at+8:])))
	case indexLeaf, tableLeaf:
	default:
		return &DamageError{number, fmt.Sprintf("is of no kind that a b-tree has: %d", kind)}
	}
	end := list + 2*cells
	if end > w.usable {
		return &DamageError{number, fmt.Sprintf("has %d cells", cells)}
	}

	clear(w.used)
	w.mark(0, end)
	if err := w.markFree(number, be16(p[at+1:]), end); err != nil {
		return err
	}
	for i := range cells {
		start := be16(p[list+2*i:])
		if start < end || start+4 > w.usable {
			return &DamageError{number, fmt.Sprintf("has a cell at %d", start)}
		}
		c, ok := w.cell(kind, p[start:w.usable])
		if !ok {
			return &DamageError{number, fmt.Sprintf("has a cell at %d that does not end", start)}
		}
		w.mark(start, start+c.size)
		if c.child != 0 {
			w.todo = append(w.todo, c.child)
		}
		if c.rest > 0 {
			if err := w.chain(c.next, c.rest); err != nil {
				return err
			}
		}
	}

	n := int64(0)
	for i := range w.usable {
		if !w.used[i] && p[i] != 0 {
			p[i] = 0
			n++
		}
	}
	return w.put(number, p, n)
}

func (w *walker) mark(from, to int) {
	for i := from; i < to; i++ {
		w.used[i] = true
	}
}

// markFree marks the heads of the free blocks: the place of the next one, and the length.
func (w *walker) markFree(number int64, block, end int) error {
	for last := end - 1; block != 0; {
		if block <= last || block+4 > w.usable {
			return &DamageError{number, fmt.Sprintf("has a free block at %d", block)}
		}
		w.mark(block, block+4)
		last, block = block, be16(w.page[block:])
	}
	return nil
}

// A cell is an entry of a page of a b-tree.
type cell struct {
	size  int   // bytes in the page
	child int64 // the page below it; 0: none
	next  int64 // the page where its row continues,
	rest  int64 // and by how many bytes
}

// cell reads the cell that begins with p.
func (w *walker) cell(kind byte, p []byte) (c cell, ok bool) {
	head := 0
	if kind == indexInner || kind == tableInner {
		c.child = int64(be32(p))
		head = 4
	}
	length, n := varint(p[head:])
	head += n
	if n == 0 || kind == tableInner { // the number of a row, and nothing else
		c.size = head
		return c, n > 0
	}

	most := (w.usable-12)*64/255 - 23
	if kind == tableLeaf {
		_, n = varint(p[head:])
		head += n
		most = w.usable - 35
	}
	if n == 0 || length > 1<<31 {
		return c, false
	}

	// Of a long row the page has a part, so that what continues it fills whole pages as far as that goes.
	local := int(length)
	if local > most {
		least := (w.usable-12)*32/255 - 23
		if local = least + (local-least)%(w.usable-4); local > most {
			local = least
		}
		if head+local+4 > len(p) {
			return c, false
		}
		c.next, c.rest = int64(be32(p[head+local:])), int64(length)-int64(local)
		local += 4
	}
	c.size = max(head+local, 4)
	return c, c.size <= len(p)
}

// varint reads a number of SQLite: seven bits of each byte, the highest first, and all eight of a ninth. n is how many bytes
// it has; 0 if p ends within it.
func varint(p []byte) (v uint64, n int) {
	for n < len(p) && n < 8 {
		b := p[n]
		n++
		if v = v<<7 | uint64(b&0x7f); b < 0x80 {
			return v, n
		}
	}
	if n == 8 && n < len(p) {
		return v<<8 | uint64(p[8]), 9
	}
	return 0, 0
}
