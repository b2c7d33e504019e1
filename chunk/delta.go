package chunk

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"vfsdb/hold"
	"vfsdb/schema"
)

// A delta is a chunk as a change of another blob, its base: the base is cut to the chunk's length, or extended by zeros,
// and bytes are laid over it. A small write into a large chunk is stored so. The base is never a delta itself, so reading
// a delta reads two rows. The table patch names the deltas of a base, for collectors.
type delta struct {
	base  int64  // the blob
	spans []span // the bytes that lie over it: ascending, apart, within the chunk

	of    int  // how long the chunk of the base is
	plain bool // the base is stored as it is
}

// A span is a range of the bytes of a chunk.
type span struct{ from, to int }

const (
	deltaHead = 8 // of a delta as it is stored: the id of its base
	spanHead  = 8 // of each span: its offset and its length, before its bytes

	// deltaLeast is how long a chunk must be to be stored as a delta. A shorter one is written in no more pages, and packs
	// want it whole.
	deltaLeast = packBytes
)

// deltaPart: a delta takes up to an eighth of its chunk. A chunk with more changes than that lets go of its base.
const deltaPart = 8

// deltaMost returns how many bytes a delta of a chunk may take when fresh of them change. Each write stores again all bytes
// that lie over the base, until the chunk is stored whole. With a higher limit each write costs more, and more writes share
// the cost of the whole. Writes of fresh bytes each cost least with the limit at which limit/2 = length/(limit/fresh).
func deltaMost(length, fresh int) int {
	least := int(math.Sqrt(2 * float64(length) * float64(fresh)))
	return min(max(least, schema.PageSize), length/deltaPart)
}

// joined puts spans in order, joins those that touch, and cuts them to length.
func joined(spans []span, length int) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	list := spans[:0]
	for _, s := range spans {
		s.to = min(s.to, length)
		last := len(list) - 1
		switch {
		case s.from >= s.to:
		case last >= 0 && s.from <= list[last].to:
			list[last].to = max(list[last].to, s.to)
		default:
			list = append(list, s)
		}
	}
	return list
}

// size returns how many bytes the delta takes.
func (d *delta) size() int {
	n := deltaHead
	for _, s := range d.spans {
		n += spanHead + s.to - s.from
	}
	return n
}

// bytes returns the delta as it is stored; p is the chunk.
func (d *delta) bytes(p []byte) []byte {
	data := binary.BigEndian.AppendUint64(make([]byte, 0, d.size()), uint64(d.base))
	for _, s := range d.spans {
		data = binary.BigEndian.AppendUint32(data, uint32(s.from))
		data = binary.BigEndian.AppendUint32(data, uint32(s.to-s.from))
		data = append(data, p[s.from:s.to]...)
	}
	return data
}

// deltaIn parses a delta of a chunk of size bytes, and calls lay for each span with its bytes. why is the fault of a
// damaged one.
func deltaIn(data []byte, size int, lay func(s span, p []byte)) (base int64, why string) {
	if len(data) < deltaHead {
		return 0, fmt.Sprintf("holds %d bytes, which are no patches", len(data))
	}
	base, data = int64(binary.BigEndian.Uint64(data)), data[deltaHead:]

	for end := 0; len(data) > 0; {
		if len(data) < spanHead {
			return 0, "ends within a patch"
		}
		from, n := int64(binary.BigEndian.Uint32(data)), int64(binary.BigEndian.Uint32(data[4:]))
		data = data[spanHead:]

		switch {
		case n == 0 || n > int64(len(data)):
			return 0, fmt.Sprintf("has a patch of %d bytes in %d", n, len(data))
		case from < int64(end):
			return 0, fmt.Sprintf("has a patch at %d, where the one before ends at %d", from, end)
		case from+n > int64(size):
			return 0, fmt.Sprintf("has a patch up to %d, past its end", from+n)
		}

		end = int(from + n)
		lay(span{int(from), end}, data[:n])
		data = data[n:]
	}
	return base, ""
}

// layOver fills p with the base of a delta and the bytes over it.
func layOver(tx *schema.Tx, data, p []byte) (why string, err error) {
	// All of the delta is looked at before anything is loaded.
	base, why := deltaIn(data, len(p), func(span, []byte) {})
	if why != "" {
		return why, nil
	}
	if why, err = loadBase(tx, base, p); err != nil {
		return "", err
	}
	if why != "" {
		return fmt.Sprintf("its base, blob %d, %s", base, why), nil
	}
	deltaIn(data, len(p), func(s span, bytes []byte) { copy(p[s.from:], bytes) })
	return "", nil
}

// loadBase fills p from a blob, and with zeros behind its end. The bytes are not verified; the chunk that is made of them
// is.
func loadBase(tx *schema.Tx, id int64, p []byte) (why string, err error) {
	rows := tx.Query(`SELECT id, sum, size, codec, data FROM blob WHERE id = ?`, id)
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Close(); err != nil {
			return "", fmt.Errorf("load base: %w", err)
		}
		return "is missing", nil
	}

	size := rows.Int(2)
	switch {
	case rows.Int(3) == patched:
		return "is stored as patches itself", nil
	case size < 1 || size > Size:
		return fmt.Sprintf("says %d bytes", size), nil
	case size == int64(len(p)):
		return unfold(tx, rows, p)
	}

	// A base of another length is loaded apart, and cut or extended.
	buf := takeBuffer()
	defer giveBuffer(buf)
	if why, err = unfold(tx, rows, buf[:size]); why != "" || err != nil {
		return why, err
	}
	clear(p[copy(p, buf[:size]):])
	return "", nil
}

// addDelta stores a chunk that is not stored yet.
func addDelta(tx *schema.Tx, sum Sum, p []byte, d *delta) (id int64, err error) {
	if id, err = tx.NextID("blob"); err != nil {
		return 0, err
	}
	if _, err := tx.Exec(`INSERT INTO blob (id, sum, size, codec, data) VALUES (?, ?, ?, 3, ?)`, id, sum[:], len(p), d.bytes(p)); err != nil {
		return 0, fmt.Errorf("store patches: %w", err)
	}
	return id, addPatch(tx, hold.Blob, d.base, id)
}

// deltaOf returns the delta as which a chunk of some length is stored. A chunk that is stored whole is one over itself,
// without spans. It calls lay for each span with its bytes.
func deltaOf(tx *schema.Tx, sum Sum, length int, lay func(s span, p []byte)) (*delta, error) {
	id, err := findBlob(tx, sum)
	if err == nil && id == 0 {
		err = &CorruptError{Sum: sum, Why: "missing"}
	}
	if err != nil {
		return nil, err
	}

	rows := tx.Query(`SELECT size, codec, CASE codec WHEN 3 THEN data END FROM blob WHERE id = ?`, id)
	defer rows.Close()
	if !rows.Next() {
		return nil, orMissing(rows, &CorruptError{Sum: sum, Blob: id, Why: "missing"})
	}
	size, codec := rows.Int(0), rows.Int(1)
	if size != int64(length) {
		return nil, &CorruptError{Sum: sum, Blob: id, Why: fmt.Sprintf("says %d bytes where there must be %d", size, length)}
	}
	if codec != patched {
		return &delta{base: id, of: length, plain: codec == plain}, rows.Close()
	}

	d := &delta{}
	var why string
	d.base, why = deltaIn(rows.Bytes(2), length, func(s span, p []byte) {
		d.spans = append(d.spans, s)
		lay(s, p)
	})
	if why != "" {
		return nil, &CorruptError{Sum: sum, Blob: id, Why: why}
	}

	base := tx.Query(`SELECT size, codec FROM blob WHERE id = ?`, d.base)
	if base.Next() {
		d.of, d.plain = int(base.Int(0)), base.Int(1) == plain
	}
	return d, base.Close()
}

// baseOf returns the base of a blob; 0 if it is whole, or is not there.
func baseOf(tx *schema.Tx, blob int64) (base int64, err error) {
	rows := tx.Query(`SELECT data FROM blob WHERE id = ? AND codec = 3`, blob)
	defer rows.Close()
	if rows.Next() {
		var b [deltaHead]byte
		if rows.Read(0, b[:]) == len(b) {
			base = int64(binary.BigEndian.Uint64(b[:]))
		}
	}
	return base, rows.Close()
}
