package merge

import (
	"bytes"
	"io"
	"slices"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/textdiff"
)

// MaxText and MaxLines bound the texts that are merged by line. Longer ones conflict as a whole.
const (
	MaxText  = 64 << 20 // bytes
	MaxLines = 1 << 20
)

// A register is a part of an inode that merges by itself.
type register struct {
	bit   node.Registers
	equal func(a, b node.Term) bool
	set   func(n *node.Node, t node.Term)
}

var registers = []register{
	{
		node.Bytes,
		func(a, b node.Term) bool {
			return a.Mode>>12 == b.Mode>>12 && a.Content == b.Content && a.Target == b.Target && a.Rdev == b.Rdev
		},
		func(n *node.Node, t node.Term) {
			n.Mode = n.Mode&node.PermBits | t.Mode&^node.PermBits
			n.Content, n.Target, n.Rdev = t.Content, t.Target, t.Rdev
		},
	},
	{
		node.Attrs,
		func(a, b node.Term) bool {
			return a.Mode&node.PermBits == b.Mode&node.PermBits && a.Uid == b.Uid && a.Gid == b.Gid && (a.Mode == 0) == (b.Mode == 0)
		},
		func(n *node.Node, t node.Term) {
			n.Mode, n.Uid, n.Gid = n.Mode&^node.PermBits|t.Mode&node.PermBits, t.Uid, t.Gid
		},
	},
	{
		node.Xattred,
		func(a, b node.Term) bool { return a.Xattrs == b.Xattrs },
		func(n *node.Node, t node.Term) { n.Xattrs = t.Xattrs },
	},
}

// mergeNodes merges an inode that both sides have, register by register, and notes what conflicts.
func (m *merger) mergeNodes(ino node.Ino, b, o, t state) (*node.Node, error) {
	n := numbered(o.node, ino)
	placed := m.terms[ino] // of its names
	list := placeTerms(b, o, t)
	for _, r := range registers {
		value, rest, err := m.mergeRegister(r, b, o, t)
		if err != nil {
			return nil, err
		}
		r.set(n, value)
		for _, term := range rest {
			list = addTerm(list, term)
		}
	}
	for _, term := range placed {
		if term.Registers&node.Place != 0 {
			list = addTerm(list, term)
		}
	}
	if len(list) > 0 || n.Conflict != "" || len(placed) > 0 {
		m.terms[ino] = list
	}

	// The later time is that of the last change, unless only one side has changed it.
	switch {
	case b.there() && o.node.Mtime == b.node.Mtime:
		n.Mtime = t.node.Mtime
	case b.there() && t.node.Mtime == b.node.Mtime:
	default:
		n.Mtime = max(o.node.Mtime, t.node.Mtime)
	}
	switch {
	case sameButTimes(n, t.node) && n.Mtime == t.node.Mtime:
		n.Ctime = t.node.Ctime
	case !sameButTimes(n, o.node) || n.Mtime != o.node.Mtime:
		n.Ctime = m.now
	}
	return n, nil
}

// placeTerms returns the terms of earlier conflicts about the names, and of files beside this one: those of ours, without
// those that theirs has resolved, and with those that it has got.
func placeTerms(b, o, t state) (list []node.Term) {
	of := func(s state) (terms []node.Term) {
		if s.there() {
			for _, term := range s.node.Conflict.Terms() {
				switch {
				case beside(term):
					terms = append(terms, term)
				case term.Registers&node.Place != 0:
					term.Registers = node.Place
					terms = append(terms, term)
				}
			}
		}
		return terms
	}

	was, theirs := of(b), of(t)
	for _, term := range of(o) {
		if !slices.Contains(was, term) || slices.Contains(theirs, term) {
			list = append(list, term)
		}
	}
	for _, term := range theirs {
		if !slices.Contains(was, term) && !slices.Contains(list, term) {
			list = append(list, term)
		}
	}
	return list
}

// An expression is the value of a register as a sum: what is added, less what is taken away.
type expression struct{ adds, removes []node.Term }

// of adds the value of a register in a state, with its conflict, or takes it away.
func (e *expression) of(m *merger, r register, side node.Side, s state, minus bool) {
	e.put(m.termOf(side, r.bit, s), minus)
	e.pending(r, s, minus)
}

// pending adds the conflict that a register has in a state, or takes it away. A file beside this one is no part of it. A
// conflict adds as many terms as it takes away: what a damaged row has more does not count.
func (e *expression) pending(r register, s state, minus bool) {
	if !s.there() {
		return
	}
	var of [2][]node.Term // the base, the others
	for _, t := range s.node.Conflict.Terms() {
		if t.Registers&r.bit != 0 && !beside(t) {
			t.Registers = r.bit
			i := min(int(t.Side), 1)
			of[i] = append(of[i], t)
		}
	}
	pairs := min(len(of[0]), len(of[1]))
	for _, t := range of[1][:pairs] {
		e.put(t, minus)
	}
	for _, t := range of[0][:pairs] {
		e.put(t, !minus)
	}
}

func (e *expression) put(t node.Term, minus bool) {
	if minus {
		e.removes = append(e.removes, t)
	} else {
		e.adds = append(e.adds, t)
	}
}

// simplify cancels equal terms. If all that is left is equal, that is the value.
func (e *expression) simplify(r register) {
	for i := 0; i < len(e.removes); {
		j := slices.IndexFunc(e.adds, func(t node.Term) bool { return r.equal(t, e.removes[i]) })
		if j < 0 {
			i++
			continue
		}
		e.removes, e.adds = slices.Delete(e.removes, i, i+1), slices.Delete(e.adds, j, j+1)
	}
	for _, t := range e.adds[1:] {
		if !r.equal(t, e.adds[0]) {
			return
		}
	}
	e.adds, e.removes = e.adds[:1], nil
}

// mergeRegister merges one register. Without conflicts of the past that is the rule of three ways. rest are the terms of
// what conflicts.
func (m *merger) mergeRegister(r register, b, o, t state) (value node.Term, rest []node.Term, err error) {
	var e expression
	e.of(m, r, node.Ours, o, false)
	e.of(m, r, node.Theirs, t, false)
	e.of(m, r, node.Base, b, true)
	e.simplify(r)
	if len(e.adds) == 1 {
		return e.adds[0], nil, nil
	}

	if len(e.adds) == 2 && len(e.removes) == 1 {
		value, merged, err := m.mergeValues(r, Base, e.removes[0], e.adds[0], e.adds[1])
		if err != nil || merged {
			return value, nil, err
		}
	}
	switch {
	case m.virtual && b.there():
		return m.termOf(node.Base, r.bit, b), nil, nil
	case m.prefer != Base:
		if e, err = m.preferred(r, b, o, t); err != nil {
			return value, nil, err
		}
	}

	// Of several states on one side a conflict shows the last. One that was taken away twice, or added twice, has changed its
	// side: it comes before those that the side has had.
	var turned []node.Term
	put := func(t node.Term, side node.Side) {
		list := &rest
		if (t.Side == node.Base) != (side == node.Base) {
			list, t.Side = &turned, side
		}
		*list = append(*list, t)
	}
	for _, t := range e.adds[1:] {
		put(t, node.Theirs)
	}
	for _, t := range e.removes {
		put(t, node.Base)
	}
	rest = append(turned, rest...)
	slices.SortStableFunc(rest, func(x, y node.Term) int { return int(x.Side) - int(y.Side) })
	return e.adds[0], rest, nil
}

// preferred merges the values of a register, and where they conflict takes that of the side that is preferred. The terms of
// earlier conflicts stay, since the preference is for this merge.
func (m *merger) preferred(r register, b, o, t state) (e expression, err error) {
	base, ours, theirs := m.termOf(node.Base, r.bit, b), m.termOf(node.Ours, r.bit, o), m.termOf(node.Theirs, r.bit, t)
	value := ours
	switch {
	case r.equal(ours, theirs), r.equal(theirs, base):
	case r.equal(ours, base):
		value = theirs
	default:
		merged := false
		if value, merged, err = m.mergeValues(r, m.prefer, base, ours, theirs); err != nil {
			return e, err
		}
		if !merged && m.prefer == Theirs {
			value = theirs
		}
	}

	e.put(value, false)
	e.pending(r, o, false)
	e.pending(r, t, false)
	e.pending(r, b, true)
	e.simplify(r)
	return e, nil
}

// mergeValues merges what stands within a register: the lines of texts, modes and owners, single attributes. The side that is
// preferred decides about each of these.
func (m *merger) mergeValues(r register, prefer Side, b, o, t node.Term) (value node.Term, merged bool, err error) {
	value = o
	switch r.bit {
	case node.Attrs:
		if b.Mode == 0 {
			return value, false, nil
		}
		perm, ok := rule(prefer, b.Mode&node.PermBits, o.Mode&node.PermBits, t.Mode&node.PermBits)
		owner, ok2 := rule(prefer, [2]uint32{b.Uid, b.Gid}, [2]uint32{o.Uid, o.Gid}, [2]uint32{t.Uid, t.Gid})
		value.Mode, value.Uid, value.Gid = o.Mode&^node.PermBits|perm, owner[0], owner[1]
		return value, ok && ok2, nil
	case node.Xattred:
		value.Xattrs, merged = mergeXattrs(prefer, b.Xattrs, o.Xattrs, t.Xattrs)
		return value, merged, nil
	}

	for _, s := range []node.Term{b, o, t} {
		if s.Mode>>12 != node.KindFile || s.Content.Size > MaxText {
			return value, false, nil
		}
	}
	value.Content, merged, err = m.mergeText(prefer, b.Content, o.Content, t.Content)
	return value, merged, err
}

// rule is the rule of three ways for values. What conflicts, the side decides that is preferred, if one is.
func rule[V comparable](prefer Side, b, o, t V) (V, bool) {
	switch {
	case o == t || t == b:
		return o, true
	case o == b, prefer == Theirs:
		return t, true
	}
	return o, prefer == Ours
}

// mergeXattrs merges attributes by their names.
func mergeXattrs(prefer Side, b, o, t node.Xattrs) (merged node.Xattrs, clean bool) {
	clean, merged = true, o
	for _, name := range slices.Concat(b.Names(), t.Names()) {
		was, had := b.Get(name)
		ours, has := o.Get(name)
		theirs, gets := t.Get(name)

		value, ok := rule(prefer, attr{had, was}, attr{has, ours}, attr{gets, theirs})
		if !ok {
			clean = false
			continue
		}
		if !value.there {
			merged = merged.Without(name)
			continue
		}

		with, err := merged.With(name, value.text)
		if err != nil { // there is no room for those of both
			return o, false
		}
		merged = with
	}
	return merged, clean
}

// An attr is an extended attribute, or that there is none.
type attr struct {
	there bool
	text  string
}

// mergeText merges texts by line, and within single lines by word. Bytes that are no text are not merged.
func (m *merger) mergeText(prefer Side, b, o, t chunk.Content) (content chunk.Content, merged bool, err error) {
	var texts [3][]byte
	for i, c := range []chunk.Content{b, o, t} {
		if texts[i], err = m.read(c); err != nil || !mergeable(texts[i]) {
			return o, false, err
		}
	}
	text := textdiff.Merge(texts[0], texts[1], texts[2]).Words()
	side := textdiff.Ours
	switch {
	case text.Clean():
	case prefer == Theirs:
		side = textdiff.Theirs
	case prefer != Ours:
		return o, false, nil
	}
	content, err = chunk.Put(m.out.tx.DB(), text.Take(side))
	return content, err == nil, err
}

// mergeable reports whether some bytes are a text that is merged by line.
func mergeable(data []byte) bool {
	return len(data) <= MaxText && !textdiff.Binary(data) && bytes.Count(data, []byte{'\n'}) <= MaxLines
}

// read returns the bytes of a content.
func (m *merger) read(c chunk.Content) ([]byte, error) {
	p := make([]byte, c.Size)
	n, err := chunk.Read(m.out.tx.DB(), c, p, 0)
	if err == io.EOF {
		err = nil
	}
	return p[:n], err
}
