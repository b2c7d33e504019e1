package chunk

import "slices"

// This file is the part of an edit that changes little of a long chunk.

// amend stores chunk i without loading all of it, if its chain is known: only the parts that change are loaded and
// hashed, before and after the change. ok is false if the chunk must be loaded whole, which also finds the fault of a
// damaged one.
func (e *edit) amend(i int64) (sum Sum, ok bool, err error) {
	was, ok := e.old.find(i)
	known := chains.get(was)
	length := lengthOf(e.size, i)
	if !ok || len(known) != partsOf(length) || length != lengthOf(e.base.Size, i) {
		return Sum{}, false, nil
	}

	// Of p only the parts that change are filled, and the bytes that lie over the base.
	p := e.buf[:length]
	parts := e.parts(i)
	d, ok, err := loadParts(e.tx, was, known, p, parts)
	if !ok || err != nil {
		return Sum{}, false, err
	}
	for _, patch := range e.work[i] {
		copy(p[patch.Off:], patch.Data)
	}

	// The sum follows from the new chain.
	now, hole := slices.Clone(known), true
	for _, n := range parts {
		now[n] = link(n, partOf(p, n))
		hole = hole && isHole(partOf(p, n))
	}
	if hole {
		return Sum{}, false, nil // all of it may be zeros
	}

	sum = now.sum()
	if ok, err = e.putDelta(i, sum, p, d); ok {
		chains.put(sum, now, was)
	}
	return sum, ok, err
}

// parts returns the numbers of the parts of chunk i that change.
func (e *edit) parts(i int64) (list []int) {
	for _, p := range e.work[i] {
		for n := int(p.Off) / partSize; n*partSize < int(p.Off)+len(p.Data); n++ {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// little reports whether chunk i is long and little of it changes.
func (e *edit) little(i int64) bool {
	length, fresh := lengthOf(e.size, i), 0
	for _, p := range e.work[i] {
		fresh += len(p.Data)
	}
	return length >= deltaLeast && fresh <= length/deltaPart
}

// putLittle stores p, which is chunk i from now on and had another sum before, or finds it.
func (e *edit) putLittle(i int64, was, sum Sum, p []byte) error {
	d, err := deltaOf(e.tx, was, lengthOf(e.base.Size, i), func(span, []byte) {})
	if err != nil {
		return err
	}
	if ok, err := e.putDelta(i, sum, p, d); ok || err != nil {
		return err
	}
	e.newest, _, err = putChunk(e.tx, sum, p, nil)
	return err
}

// putDelta stores chunk i over the base of d, the delta of the chunk as it was before, or finds it. Of p it reads the
// bytes that change and those that lay over the base. ok is false if these are too many, and the chunk is to be stored
// whole.
func (e *edit) putDelta(i int64, sum Sum, p []byte, d *delta) (ok bool, err error) {
	if e.newest, err = findChunk(e.tx, sum); e.newest != 0 || err != nil {
		return err == nil, err
	}

	// Over the base lie the bytes that lay there before, and those that change now.
	spans, fresh := d.spans, 0
	for _, p := range e.work[i] {
		spans = append(spans, span{int(p.Off), int(p.Off) + len(p.Data)})
		fresh += len(p.Data)
	}
	if before := lengthOf(e.base.Size, i); before < d.of {
		spans = append(spans, span{before, d.of}) // the base has bytes here that were cut off
	}

	over := &delta{base: d.base, spans: joined(spans, len(p))}
	if over.size()+max(0, d.of-len(p)) > deltaMost(len(p), fresh) {
		return false, nil
	}
	if e.newest, err = addDelta(e.tx, sum, p, over); err == nil {
		tally(e.tx.Context(), false)
	}
	return err == nil, err
}
