//go:build linux

package damage

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// pages are the bytes of a store, and know where its tables are.
type pages struct {
	t    *testing.T
	path string
	file []byte
}

// root returns the number of the first page of a table or an index.
func (p pages) root(name string) int {
	db, err := schema.Open(p.t.Context(), p.path, schema.Options{ReadOnly: true})
	require.NoError(p.t, err)
	defer db.Close()
	var page int64
	require.NoError(p.t, db.View(p.t.Context(), func(tx *schema.Tx) (err error) {
		page, _, err = tx.Int(`SELECT rootpage FROM sqlite_schema WHERE name = ?`, name)
		return err
	}))
	require.Positive(p.t, page, name)
	return int(page)
}

// page returns the bytes of a page, to be changed.
func (p pages) page(number int) []byte {
	return p.file[(number-1)*schema.PageSize : number*schema.PageSize]
}

// Kinds of pages.
const (
	innerIndex, innerTable = 0x02, 0x05
	leafIndex, leafTable   = 0x0a, 0x0d
)

// children returns where the numbers of the pages below an inner page stand in it.
func children(page []byte) (places []int) {
	if page[0] != innerIndex && page[0] != innerTable {
		return nil
	}
	for n := range int(binary.BigEndian.Uint16(page[3:])) {
		places = append(places, int(binary.BigEndian.Uint16(page[12+2*n:])))
	}
	return append(places, 8)
}

// leaves returns the numbers of the leaves of a tree of pages.
func (p pages) leaves(root int) (list []int) {
	page := p.page(root)
	places := children(page)
	if places == nil {
		return []int{root}
	}
	for _, at := range places {
		list = append(list, p.leaves(int(binary.BigEndian.Uint32(page[at:])))...)
	}
	return list
}

// swapLeaves exchanges two pages below the root of a tree that has several.
func swapLeaves(name string) func(*testing.T, pages) []byte {
	return func(t *testing.T, p pages) []byte {
		page := p.page(p.root(name))
		places := children(page)
		require.Greater(t, len(places), 1, "%s has too few pages", name)
		a, b := page[places[0]:places[0]+4], page[places[1]:places[1]+4]
		swap(a, b)
		return p.file
	}
}

// swap exchanges the bytes of two parts of a page, which have the same length.
func swap(a, b []byte) {
	was := slices.Clone(a)
	copy(a, b)
	copy(b, was)
}

// cutLeaf takes most of the rows of the second leaf of a tree away.
func cutLeaf(name string) func(*testing.T, pages) []byte {
	return func(t *testing.T, p pages) []byte {
		list := p.leaves(p.root(name))
		require.Greater(t, len(list), 1, "%s has too few pages", name)
		binary.BigEndian.PutUint16(p.page(list[1])[3:], 1)
		return p.file
	}
}

// moveLeaf puts the first leaf of a tree in the place of the second too.
func moveLeaf(name string) func(*testing.T, pages) []byte {
	return func(t *testing.T, p pages) []byte {
		page := p.page(p.root(name))
		places := children(page)
		require.Greater(t, len(places), 1, "%s has too few pages", name)
		copy(page[places[1]:], page[places[0]:places[0]+4])
		return p.file
	}
}

// pointUp has the first child of an inner page be the page itself.
func pointUp(name string) func(*testing.T, pages) []byte {
	return func(t *testing.T, p pages) []byte {
		root := p.root(name)
		page := p.page(root)
		places := children(page)
		require.NotEmpty(t, places, "%s has one page", name)
		binary.BigEndian.PutUint32(page[places[0]:], uint32(root))
		return p.file
	}
}

// inLeaves replaces bytes wherever they stand in the leaves of a tree.
func inLeaves(name, old, now string) func(*testing.T, pages) []byte {
	return func(t *testing.T, p pages) []byte {
		for _, leaf := range p.leaves(p.root(name)) {
			page := p.page(leaf)
			copy(page, bytes.ReplaceAll(page, []byte(old), []byte(now)))
		}
		return p.file
	}
}

// swapInLeaves exchanges two texts of one length in the leaves of a tree.
func swapInLeaves(name, a, b string) func(*testing.T, pages) []byte {
	return func(t *testing.T, p pages) []byte {
		for _, leaf := range p.leaves(p.root(name)) {
			page := p.page(leaf)
			for i := 0; i+len(a) <= len(page); i++ {
				switch string(page[i : i+len(a)]) {
				case a:
					copy(page[i:], b)
				case b:
					copy(page[i:], a)
				}
			}
		}
		return p.file
	}
}

// swapRows exchanges the rows that the first two entries of a leaf of an index lead to: their numbers, of two bytes,
// come last.
func swapRows(name string) func(*testing.T, pages) []byte {
	return func(t *testing.T, p pages) []byte {
		page := p.page(p.leaves(p.root(name))[0])
		require.EqualValues(t, leafIndex, page[0])
		end := func(n int) int {
			at := int(binary.BigEndian.Uint16(page[8+2*n:]))
			return at + 1 + int(page[at]) // a length below 128, and that number of bytes
		}
		a, b := page[end(0)-2:end(0)], page[end(1)-2:end(1)]
		swap(a, b)
		return p.file
	}
}

// zeroed makes a leaf of a tree nothing but zeros.
func zeroed(name string) func(*testing.T, pages) []byte {
	return func(t *testing.T, p pages) []byte {
		list := p.leaves(p.root(name))
		clear(p.page(list[len(list)/2]))
		return p.file
	}
}

// header changes a number of four bytes in the file's header.
func header(at int, value uint32) func(*testing.T, pages) []byte {
	return func(t *testing.T, p pages) []byte {
		binary.BigEndian.PutUint32(p.file[at:], value)
		return p.file
	}
}

// zeroEntries leaves an index without entries.
func zeroEntries(name string) func(*testing.T, pages) []byte {
	return func(t *testing.T, p pages) []byte {
		for _, leaf := range p.leaves(p.root(name)) {
			binary.BigEndian.PutUint16(p.page(leaf)[3:], 0)
		}
		return p.file
	}
}
