package node

import (
	"encoding/binary"
	"fmt"

	"vfsdb/chunk"
	"vfsdb/schema"
)

// Registers is a set of the parts of an inode that merge each by itself.
type Registers uint8

const (
	Place   Registers = 1 << iota // whether it has a name, and which
	Bytes                         // type, content, target and device number
	Attrs                         // permissions and owner
	Xattred                       // extended attributes

	allRegisters = Place | Bytes | Attrs | Xattred
)

// A Side is one of the three trees of a merge.
type Side uint8

const (
	Base   Side = iota // the state that both sides come from
	Ours               // that of the tree which is merged into
	Theirs             // that of the tree which is merged
)

// A Conflict is what merges could not decide about an inode, as its row has it; "" if there is nothing. It is a list of
// terms: the value of a register in conflict is the one in the inode, less that of each term of the base, plus that of
// each other one. Equal conflicts have equal bytes. The Conflict of a node that a tree shows has no fault.
type Conflict string

// A Term is a state of an inode in a conflict.
type Term struct {
	Side      Side
	Registers Registers // that it counts for
	Label     string    // names the tree that had the state; of ours, which had removed the inode, the tree whose state stands

	Mode     uint32 // 0: the tree did not have the inode, and all below is zero
	Uid, Gid uint32
	Rdev     int64
	Mtime    int64
	Content  chunk.Content
	Target   string
	Xattrs   Xattrs
	Name     Name // the first of its names; Dir 0 if it had none. Without Place: of a file that a merge put beside this one
}

// MaxLabel bounds the label of a term, in bytes.
const MaxLabel = 1024

// NewConflict returns the conflict of some terms, in their order.
func NewConflict(terms []Term) Conflict {
	var b []byte
	for _, t := range terms {
		b = append(b, byte(t.Side), byte(t.Registers))
		numbers := [...]int64{
			int64(t.Mode), int64(t.Uid), int64(t.Gid), t.Rdev, t.Content.Size, t.Content.Blob, t.Content.Manifest, int64(t.Name.Dir),
		}
		for _, n := range numbers {
			b = binary.AppendUvarint(b, uint64(n))
		}
		b = binary.AppendVarint(b, t.Mtime)
		for _, s := range [...]string{t.Label[:min(len(t.Label), MaxLabel)], t.Target, string(t.Xattrs), t.Name.Base} {
			b = binary.AppendUvarint(b, uint64(len(s)))
			b = append(b, s...)
		}
	}
	return Conflict(b)
}

// Terms returns the terms of a conflict in which there is no fault.
func (c Conflict) Terms() []Term {
	list, _ := c.parse()
	return list
}

// Contents returns the contents that the terms name. Of a damaged conflict it returns those before the damage.
func (c Conflict) Contents() []chunk.Content {
	if c == "" {
		return nil
	}
	var list []chunk.Content
	terms, _ := c.parse()
	for _, t := range terms {
		if t.Content.Blob != 0 || t.Content.Manifest != 0 {
			list = append(list, t.Content)
		}
	}
	return list
}

// Touch notes that the contents of the terms gained a reference, see [chunk.Touch].
func (c Conflict) Touch(tx *schema.Tx) error {
	for _, content := range c.Contents() {
		if err := chunk.Touch(tx, content); err != nil {
			return err
		}
	}
	return nil
}

// Registers returns the registers in conflict.
func (c Conflict) Registers() (all Registers) {
	for _, t := range c.Terms() {
		all |= t.Registers
	}
	return all
}

// Fault returns why no row can have these bytes as a conflict; "" if one can.
func (c Conflict) Fault() string {
	list, ok := c.parse()
	if !ok || len(list) == 0 {
		return fmt.Sprintf("conflict of %d bytes is damaged in term %d", len(c), len(list))
	}
	for i, t := range list {
		if what := t.fault(); what != "" {
			return fmt.Sprintf("term %d of its conflict: %s", i, what)
		}
	}
	return ""
}

// fault returns why no merge can have made a term.
func (t *Term) fault() string {
	switch {
	case t.Side > Theirs || t.Registers == 0 || t.Registers&^allRegisters != 0 || len(t.Label) > MaxLabel:
		return fmt.Sprintf("side %d, registers %d", t.Side, t.Registers)
	case t.Name.Dir != 0 && EntryFault(t.Name.Base, true, schema.FirstID, KindFile) != "", t.Name.Dir == 0 && t.Name.Base != "":
		return "a name that no entry can have"
	case t.Mode == 0 && (*t != Term{Side: t.Side, Registers: t.Registers, Label: t.Label, Name: t.Name}):
		return "a state of what was not there"
	}
	form := Form{
		Ino: schema.FirstID, Mode: int64(t.Mode), Nlink: 1, Content: t.Content,
		HasBlob: t.Content.Blob != 0, HasManifest: t.Content.Manifest != 0, HasTarget: t.Target != "", Target: int64(len(t.Target)),
		HasXattrs: t.Xattrs != "", Xattrs: t.Xattrs,
	}
	if what := form.Fault(); what != "" {
		return what
	}
	if err := t.Content.Check(); err != nil {
		return err.Error()
	}
	return ""
}

// parse returns the terms up to the first that does not read back as it was written.
func (c Conflict) parse() (list []Term, ok bool) {
	for s := string(c); s != ""; {
		var t Term
		width, ok := t.parse(s)
		if !ok || string(NewConflict([]Term{t})) != s[:width] {
			return list, false
		}
		list, s = append(list, t), s[width:]
	}
	return list, true
}

// parse reads one term at the front of s, and returns how many bytes it takes.
func (t *Term) parse(s string) (width int, ok bool) {
	if len(s) < 2 {
		return 0, false
	}
	t.Side, t.Registers = Side(s[0]), Registers(s[1])
	width = 2

	var numbers [8]int64
	for i := range numbers {
		n, k := binary.Uvarint([]byte(s[width:min(len(s), width+binary.MaxVarintLen64)]))
		if k <= 0 {
			return 0, false
		}
		numbers[i], width = int64(n), width+k
	}
	mtime, k := binary.Varint([]byte(s[width:min(len(s), width+binary.MaxVarintLen64)]))
	if k <= 0 {
		return 0, false
	}
	width += k

	var fields [4]string
	for i := range fields {
		field, k := cutField(s[width:])
		if k == 0 {
			return 0, false
		}
		fields[i], width = field, width+k
	}

	t.Mode, t.Uid, t.Gid, t.Rdev, t.Mtime = uint32(numbers[0]), uint32(numbers[1]), uint32(numbers[2]), numbers[3], mtime
	t.Content = chunk.Content{Size: numbers[4], Blob: numbers[5], Manifest: numbers[6]}
	t.Label, t.Target, t.Xattrs, t.Name = fields[0], fields[1], Xattrs(fields[2]), Name{Dir: Ino(numbers[7]), Base: fields[3]}
	return width, true
}
