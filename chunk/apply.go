package chunk

import (
	"slices"
	"syscall"

	"vfsdb/hold"
	"vfsdb/schema"
)

// A Patch lays Data over the bytes from Off on.
type Patch struct {
	Off  int64
	Data []byte
}

// Apply stores new content of size bytes: base, cut or extended by zeros, with the patches laid over it in order. A
// patch past the end is EINVAL. Only chunks that change are loaded, hashed and stored; the others are shared with base.
func Apply(tx *schema.Tx, base Content, size int64, patches []Patch) (Content, error) {
	switch {
	case !tx.Writable():
		return Content{}, syscall.EROFS
	case size > MaxSize:
		return Content{}, syscall.EFBIG
	case size < 0:
		return Content{}, syscall.EINVAL
	}

	e := edit{tx: tx, base: base, size: size}
	if err := e.open(); err != nil {
		return Content{}, err
	}
	if err := e.plan(patches); err != nil {
		return Content{}, err
	}
	if len(e.work) == 0 && size == base.Size {
		return base, nil
	}

	// base may lose its last reference to this very transaction, and its chunks live on in the new content.
	if err := Touch(tx, base); err != nil {
		return Content{}, err
	}
	return e.run()
}

// An edit is one Apply.
type edit struct {
	tx   *schema.Tx
	base Content
	old  lines // of base
	size int64 // of the new content

	work   map[int64][]Patch // chunks to make anew; Off is within the chunk
	buf    *buffer
	newest int64 // the blob stored last
	fresh  lines // of the chunks made anew; a hole has a sum of zeros
}

// open reads the lines of base. For a single chunk it makes one up.
func (e *edit) open() (err error) {
	if e.old, err = linesOf(e.tx, e.base); err != nil || e.base.Blob == 0 {
		return err
	}
	sum, err := blobSum(e.tx, e.base.Blob)
	e.old = lines{}.add(0, sum)
	return err
}

// plan finds the chunks that change: those below a patch, and at the ends those whose length changes.
func (e *edit) plan(patches []Patch) error {
	e.work = make(map[int64][]Patch)
	for _, p := range patches {
		if p.Off < 0 || p.Off > e.size || int64(len(p.Data)) > e.size-p.Off {
			return syscall.EINVAL
		}
		for len(p.Data) > 0 {
			i, start := p.Off/Size, p.Off%Size
			n := min(Size-start, int64(len(p.Data)))
			e.work[i] = append(e.work[i], Patch{Off: start, Data: p.Data[:n]})
			p = Patch{Off: p.Off + n, Data: p.Data[n:]}
		}
	}

	for _, end := range []int64{e.base.Size, e.size} {
		last := max(0, end-1) / Size
		_, ok := e.old.find(last)
		if now := lengthOf(e.size, last); ok && now != 0 && now != lengthOf(e.base.Size, last) {
			e.work[last] = append(e.work[last], Patch{}) // changes nothing, but names the chunk
		}
	}
	return nil
}

// run makes the new content.
func (e *edit) run() (Content, error) {
	e.buf = takeBuffer()
	defer giveBuffer(e.buf)

	todo := make([]int64, 0, len(e.work))
	for i := range e.work {
		todo = append(todo, i)
	}
	slices.Sort(todo)

	// The new body is the old one up to the new end, with the lines of todo in place of theirs.
	kept := e.old[:e.old.seek(chunks(e.size))*lineSize]
	body := make(lines, 0, len(kept)+len(todo)*lineSize)
	for _, i := range todo {
		n := kept.seek(i)
		body = append(body, kept[:n*lineSize]...)
		kept = kept[n*lineSize:]
		if kept.count() > 0 {
			if index, _ := kept.at(0); index == i {
				kept = kept[lineSize:]
			}
		}

		sum, hole, err := e.remake(i)
		if err != nil {
			return Content{}, err
		}
		e.fresh = e.fresh.add(i, sum)
		if !hole {
			body = body.add(i, sum)
		}
	}
	body = append(body, kept...)
	return e.seal(body)
}

// remake stores chunk i in its new form.
func (e *edit) remake(i int64) (sum Sum, hole bool, err error) {
	little := e.little(i)
	if little {
		if sum, ok, err := e.amend(i); ok || err != nil {
			return sum, false, err
		}
	}

	p, err := e.chunk(i)
	if err != nil {
		return Sum{}, false, err
	}
	if isHole(p) {
		return Sum{}, true, nil
	}

	was, ok := e.old.find(i)
	if !little || !ok {
		sum = SumOf(p)
		e.newest, _, err = putChunk(e.tx, sum, p, nil)
		return sum, false, err
	}

	// The chain is kept, so that the next small change of this chunk need not load it.
	c := chainOf(p)
	sum = c.sum()
	chains.put(sum, c, was)
	return sum, false, e.putLittle(i, was, sum, p)
}

// chunk returns the new bytes of chunk i. Below a patch that covers all of it nothing is loaded.
func (e *edit) chunk(i int64) ([]byte, error) {
	length, patches := lengthOf(e.size, i), e.work[i]
	whole := -1
	for n, p := range patches {
		if len(p.Data) == length {
			whole = n
		}
	}
	if whole >= 0 && whole == len(patches)-1 {
		return patches[whole].Data, nil
	}

	p := e.buf[:length]
	if whole < 0 {
		if err := e.load(i, p); err != nil {
			return nil, err
		}
	}
	for _, patch := range patches[max(0, whole):] {
		copy(p[patch.Off:], patch.Data)
	}
	return p, nil
}

// load fills p from chunk i of base, and with zeros behind its end.
func (e *edit) load(i int64, p []byte) error {
	sum, ok := e.old.find(i)
	if !ok {
		clear(p)
		return nil
	}
	before := lengthOf(e.base.Size, i)
	if err := loadBlob(e.tx, sum, e.buf[:before]); err != nil {
		return err
	}
	clear(p[min(len(p), before):])
	return nil
}

// seal returns the new content: its only chunk, which may be one that did not change, or a manifest of body.
func (e *edit) seal(body lines) (Content, error) {
	if e.size <= Size {
		only := e.newest
		sum, ok := body.find(0)
		if !ok {
			return Content{Size: e.size}, nil
		}
		if len(e.work) == 0 {
			id, _, err := blobSize(e.tx, sum)
			if err != nil {
				return Content{}, err
			}
			only = id
			if err := hold.Touch(e.tx, hold.Blob, id); err != nil {
				return Content{}, err
			}
		}
		return Content{Size: e.size, Blob: only}, nil
	}

	id, err := storeManifest(e.tx, e.size, body.sum(e.size), func() (manifestDelta, error) {
		return manifestOver(e.tx, e.base, e.size, e.fresh, body)
	})
	return Content{Size: e.size, Manifest: id}, err
}
