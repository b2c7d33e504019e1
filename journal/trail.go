package journal

import (
	"bytes"
	"slices"

	"vfsdb/schema"
)

// A block is 256 changes in a row. Its trail is an index of them, so that a reader can pass over the changes that it is not after.
// It begins with a tag for each change, two bytes of the hash of the path. The rest is a Bloom filter: of the ops, and of the
// directories that the changes concern. A block that is not full yet has no trail, nor has one that was written before version 6
// of the format. All its changes are read.

const (
	// blockBits is the logarithm of how many changes a block has.
	blockBits = 8
	blockSize = 1 << blockBits

	// tagSize is how many bytes the tags of a block have: first the lower byte of each, then the upper. A tag leads to a change of
	// another path once in 65,536 times, and so to one in a block of them once in 256.
	tagSize = 2 * blockSize

	// Of sixteen bits for a mark about seven of twenty are set, so a mark is found in vain once in 1,700 times.
	trailShare  = 16
	trailProbes = 7
)

func blockOf(seq int64) int64 { return seq >> blockBits }

// tagOf returns the tag of a path.
func tagOf(path string) uint16 { return uint16(mark('p', path)) }

// The kinds of marks.
const (
	markBelow = 'b' // a path below it changed, or was the old one of a rename
	markFrom  = 'f' // it was the old path of a rename
	markAbove = 't' // a tree at the path was taken away or brought
	markOp    = 'o' // there is a change of the kind
)

// mark returns the number of a mark: FNV-1a of its kind and its text, with the bits mixed.
func mark(kind byte, text string) uint64 {
	h := seed(kind)
	for i := range len(text) {
		h = feed(h, text[i])
	}
	return mix(h)
}

func seed(kind byte) uint64 { return feed(0xcbf29ce484222325, kind) }

func feed(h uint64, b byte) uint64 { return (h ^ uint64(b)) * 0x100000001b3 }

func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// marksAbove appends the marks of the directories above a path, but for the root.
func marksAbove(marks []uint64, kind byte, path string) []uint64 {
	h := seed(kind)
	for i := range len(path) {
		if path[i] == '/' {
			marks = append(marks, mix(h))
		}
		h = feed(h, path[i])
	}
	return marks
}

// changeMarks appends the marks that a change leaves.
func changeMarks(marks []uint64, op Op, path, arg string) []uint64 {
	marks = append(marks, mark(markOp, string(op)))
	marks = marksAbove(marks, markBelow, path)
	switch op {
	case OpRename:
		marks = marksAbove(marks, markBelow, arg)
		marks = append(marks, mark(markFrom, arg), mark(markAbove, arg), mark(markAbove, path))
	case OpRemoveAll, OpRestore, OpMerge:
		marks = append(marks, mark(markAbove, path))
	}
	return marks
}

// bitAt returns the place of a bit of a mark in a filter of so many bits.
func bitAt(mark uint64, probe, bits uint64) uint64 {
	return (mark>>32 + probe*(mark&0xffffffff|1)) % bits
}

// hasMark reports whether a filter may have a mark.
func hasMark(filter []byte, mark uint64) bool {
	bits := uint64(len(filter)) * 8
	for i := uint64(0); i < trailProbes && bits > 0; i++ {
		at := bitAt(mark, i, bits)
		if filter[at>>3]&(1<<(at&7)) == 0 {
			return false
		}
	}
	return true
}

// Covers reports whether a row of the table trail has the tag and all marks of a change of its block.
func Covers(trail []byte, seq int64, op Op, path, arg string) bool {
	if len(trail) < tagSize {
		return false
	}
	at, tag := seq&(blockSize-1), tagOf(path)
	if trail[at] != byte(tag) || trail[blockSize+at] != byte(tag>>8) {
		return false
	}
	for _, m := range changeMarks(nil, op, path, arg) {
		if !hasMark(trail[tagSize:], m) {
			return false
		}
	}
	return true
}

// A trailMaker makes the trail of a block.
type trailMaker struct {
	tags  [tagSize]byte
	marks []uint64
}

// add adds a change of the block.
func (m *trailMaker) add(seq int64, op Op, path, arg string) {
	at, tag := seq&(blockSize-1), tagOf(path)
	m.tags[at], m.tags[blockSize+at] = byte(tag), byte(tag>>8)
	m.marks = changeMarks(m.marks, op, path, arg)
}

// insert adds the row of the block.
func (m *trailMaker) insert(tx *schema.Tx, block int64) error {
	slices.Sort(m.marks)
	marks := slices.Compact(m.marks)

	trail := append(m.tags[:], make([]byte, (len(marks)*trailShare+7)/8)...)
	filter := trail[tagSize:]
	bits := uint64(len(filter)) * 8
	for _, m := range marks {
		for i := range uint64(trailProbes) {
			at := bitAt(m, i, bits)
			filter[at>>3] |= 1 << (at & 7)
		}
	}
	_, err := tx.Exec(`INSERT OR REPLACE INTO trail (block, bits) VALUES (?, ?)`, block, trail)
	return err
}

// readTrails adds the trails of full blocks from their changes, which are all written.
func readTrails(tx *schema.Tx, first, last int64) error {
	for block := first; block <= last; block++ {
		var m trailMaker
		rows := tx.Query(`SELECT seq, op, path, arg FROM change WHERE seq BETWEEN ? AND ?`, block<<blockBits, (block+1)<<blockBits-1)
		for rows.Next() {
			m.add(rows.Int(0), Op(rows.Text(1)), rows.Text(2), rows.Text(3))
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if err := m.insert(tx, block); err != nil {
			return err
		}
	}
	return nil
}

// treeOps are the ops that concern what is below their paths.
var treeOps = [...]Op{OpRename, OpRemoveAll, OpRestore, OpMerge}

var treeMarks = func() (marks [len(treeOps)]uint64) {
	for i, op := range treeOps {
		marks[i] = mark(markOp, string(op))
	}
	return marks
}()

// A probe asks trails for what a reader is after: one op, and one of some paths. Where it asks for nothing, any trail will do.
type probe struct {
	op    uint64   // 0: any
	at    []place  // changes at these
	marks []uint64 // changes that leave one of these
	above []uint64 // and of treeOps, one of these
}

// A place is what changes at a path have in common.
type place struct {
	tag  uint16
	mark uint64 // that the trail must have too; 0: none
}

// probeFor returns the probe for the changes of a kind that concern one of some names; "" and nil are any.
func probeFor(op string, names []string) (p probe) {
	if op != "" {
		p.op = mark(markOp, op)
	}
	if slices.Contains(names, ".") {
		return p
	}
	for _, name := range names {
		p.at = append(p.at, place{tag: tagOf(name)})
		p.marks = append(p.marks, mark(markBelow, name), mark(markFrom, name))
		p.above = marksAbove(append(p.above, mark(markAbove, ".")), markAbove, name)
	}
	return p
}

// probeForMove returns the probe for the renames that brought a path, or a directory above it.
func probeForMove(path string) probe {
	return probe{
		op:    mark(markOp, string(OpRename)),
		at:    []place{{tagOf(path), mark(markAbove, path)}},
		above: marksAbove(nil, markAbove, path),
	}
}

// anywhere reports whether changes of all paths are asked for.
func (p *probe) anywhere() bool { return len(p.at)+len(p.marks)+len(p.above) == 0 }

func (p *probe) empty() bool { return p.op == 0 && p.anywhere() }

// mostAlone is how many changes of a block are read one by one at most; more are read with those between them.
const mostAlone = 6

// finds looks for what is asked for in a trail, and appends the places in the block of the changes that may be it; or else all
// may be, and trees tells whether some of them may be of treeOps. A trail that is too short rules out nothing.
func (p *probe) finds(trail []byte, alone []int64) (found []int64, all, trees bool) {
	if len(trail) < tagSize {
		return alone, true, true
	}
	has := func(m uint64) bool { return hasMark(trail[tagSize:], m) }
	if p.op != 0 && !has(p.op) {
		return alone, false, false
	}
	trees = slices.ContainsFunc(treeMarks[:], has)
	if p.anywhere() || slices.ContainsFunc(p.marks, has) || trees && slices.ContainsFunc(p.above, has) {
		return alone, true, trees
	}

	for _, at := range p.at {
		if at.mark != 0 && !has(at.mark) {
			continue
		}
		for i := 0; i < blockSize; i++ {
			n := bytes.IndexByte(trail[i:blockSize], byte(at.tag))
			if n < 0 {
				break
			}
			if i += n; trail[blockSize+i] == byte(at.tag>>8) {
				alone = append(alone, int64(i))
			}
		}
	}
	if len(alone) > mostAlone {
		return alone, true, trees
	}
	slices.Sort(alone)
	return slices.Compact(alone), false, false
}
