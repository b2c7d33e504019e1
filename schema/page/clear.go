package page

import (
	"encoding/binary"
	"fmt"
)

// A File is the pages of a database, by their numbers from 1 on.
type File interface {
	// Read fills p with a page.
	Read(number int64, p []byte) error

	// Write replaces a page.
	Write(number int64, p []byte) error
}

// A Report counts the work of a [Clear].
type Report struct {
	Pages   int64 // of the file
	Cleared int64 // pages with unused bytes that were not zero
	Bytes   int64 // of these
}

// A DamageError is a page that is not what the pages that lead to it say.
type DamageError struct {
	Page int64
	Why  string
}

func (e *DamageError) Error() string { return fmt.Sprintf("page %d: %s", e.Page, e.Why) }

// pending is the byte of the file whose page SQLite never uses, because it is where locks are.
const pending = 0x40000000

// Clear makes all unused bytes of a file zero. The file has a number of pages of one size, and b-trees with these roots,
// beside the one at page 1. Nobody else may write meanwhile.
func Clear(f File, pages int64, size int, roots []int64) (Report, error) {
	w := &walker{
		file: f, size: size, pages: pages, seen: make([]bool, pages+1), used: make([]bool, size),
		page: make([]byte, size), more: make([]byte, size), report: Report{Pages: pages},
	}
	err := w.clear(roots)
	return w.report, err
}

// A walker is one Clear.
type walker struct {
	file   File
	size   int    // of a page
	usable int    // bytes of a page that SQLite uses
	pages  int64  // of the file
	seen   []bool // by the number of a page
	report Report

	page []byte // of a b-tree
	used []bool // its bytes
	more []byte // a page that it leads to
	todo []int64
}

func (w *walker) clear(roots []int64) error {
	if err := w.file.Read(1, w.page); err != nil {
		return err
	}
	w.usable = w.size - int(w.page[20])
	if w.usable < 480 {
		return &DamageError{1, fmt.Sprintf("reserves %d bytes of each page", w.page[20])}
	}
	trunk, mapped := int64(be32(w.page[32:])), be32(w.page[52:]) != 0

	if err := w.free(trunk); err != nil {
		return err
	}
	for w.todo = append([]int64{1}, roots...); len(w.todo) > 0; {
		last := len(w.todo) - 1
		number := w.todo[last]
		w.todo = w.todo[:last]
		if err := w.tree(number); err != nil {
			return err
		}
	}

	for number := int64(1); number <= w.pages; number++ {
		if !w.seen[number] && number != w.lockPage() && !(mapped && w.isMap(number)) {
			return &DamageError{number, "is neither used nor free"}
		}
	}
	return nil
}

func (w *walker) lockPage() int64 { return pending/int64(w.size) + 1 }

// isMap reports whether a page has the map of parents, which has numbers alone. Of the pages from 2 on, the first has the map
// of as many behind it as find room in a page, then comes the next such page.
func (w *walker) isMap(number int64) bool {
	if number < 2 {
		return false
	}
	every := int64(w.usable/5) + 1
	at := (number-2)/every*every + 2
	if at == w.lockPage() {
		at++
	}
	return number == at
}

// take reads a page, which nothing else may lead to.
func (w *walker) take(number int64, p []byte) error {
	switch {
	case number < 1 || number > w.pages:
		return &DamageError{number, fmt.Sprintf("is named, and the file has %d pages", w.pages)}
	case w.seen[number]:
		return &DamageError{number, "is used twice"}
	}
	w.seen[number] = true
	return w.file.Read(number, p)
}

// zero overwrites the bytes of p that are at from or later.
func (w *walker) zero(number int64, p []byte, from int) error {
	n := int64(0)
	for i := from; i < w.usable; i++ {
		if p[i] != 0 {
			p[i] = 0
			n++
		}
	}
	return w.put(number, p, n)
}

// put writes a page in which n bytes were cleared.
func (w *walker) put(number int64, p []byte, n int64) error {
	if n == 0 {
		return nil
	}
	w.report.Cleared++
	w.report.Bytes += n
	return w.file.Write(number, p)
}

// free clears the list of free pages. A trunk has the number of the next trunk, how many leaves it names, and their numbers.
func (w *walker) free(trunk int64) error {
	for trunk != 0 {
		if err := w.take(trunk, w.page); err != nil {
			return err
		}
		leaves := int(be32(w.page[4:]))
		if leaves < 0 || leaves > w.usable/4-2 {
			return &DamageError{trunk, fmt.Sprintf("names %d free pages", leaves)}
		}
		for i := range leaves {
			leaf := int64(be32(w.page[8+4*i:]))
			if err := w.take(leaf, w.more); err != nil {
				return err
			}
			if err := w.zero(leaf, w.more, 0); err != nil {
				return err
			}
		}
		if err := w.zero(trunk, w.page, 8+4*leaves); err != nil {
			return err
		}
		trunk = int64(be32(w.page))
	}
	return nil
}

// chain clears the pages that continue a row by rest bytes.
func (w *walker) chain(number, rest int64) error {
	for rest > 0 {
		if err := w.take(number, w.more); err != nil {
			return err
		}
		here := min(rest, int64(w.usable-4))
		if err := w.zero(number, w.more, 4+int(here)); err != nil {
			return err
		}
		rest -= here
		if next := int64(be32(w.more)); rest > 0 || next == 0 {
			number = next
		} else {
			return &DamageError{number, "continues a row that ends there"}
		}
	}
	return nil
}

func be16(p []byte) int    { return int(binary.BigEndian.Uint16(p)) }
func be32(p []byte) uint32 { return binary.BigEndian.Uint32(p) }
