package chunk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"
	"syscall"

	"github.com/zeebo/blake3"

	"vfsdb/hold"
	"vfsdb/schema"
)

// lines is the body of a manifest: for each chunk that is not a hole, in order, its index in 4 bytes, big endian, and
// its sum in 32. It is kept packed, as it is stored, because a manifest may have millions of lines.
type lines []byte

const (
	lineSize = 4 + len(Sum{})

	// maxLines keeps a body below SQLite's limit of 10^9 bytes for one value: 12.9 TiB of content that is not holes.
	maxLines = 27_000_000
)

func (l lines) count() int { return len(l) / lineSize }

// at returns line n.
func (l lines) at(n int) (index int64, sum Sum) {
	line := l[n*lineSize : (n+1)*lineSize]
	return int64(binary.BigEndian.Uint32(line)), Sum(line[4:])
}

// add appends a line. Lines are added in the order of their chunks.
func (l lines) add(index int64, sum Sum) lines {
	l = binary.BigEndian.AppendUint32(l, uint32(index))
	return append(l, sum[:]...)
}

// seek returns the number of the first line whose chunk is not before index.
func (l lines) seek(index int64) int {
	return sort.Search(l.count(), func(n int) bool {
		i, _ := l.at(n)
		return i >= index
	})
}

// find returns the sum of a chunk; ok is false if it is a hole.
func (l lines) find(index int64) (sum Sum, ok bool) {
	n := l.seek(index)
	if n == l.count() {
		return Sum{}, false
	}
	i, sum := l.at(n)
	return sum, i == index
}

// check returns the fault of lines that ought to be a body of content of size bytes; "" if there is none.
func (l lines) check(size int64) string {
	switch {
	case size <= Size || size > MaxSize:
		return fmt.Sprintf("cannot be content of %d bytes", size)
	case len(l)%lineSize != 0:
		return fmt.Sprintf("body of %d bytes, which is no number of lines", len(l))
	case int64(l.count()) > chunks(size):
		return "more lines than chunks"
	}

	before := int64(-1)
	for n := range l.count() {
		index, _ := l.at(n)
		switch {
		case index <= before:
			return fmt.Sprintf("line %d is out of order", n)
		case index >= chunks(size):
			return fmt.Sprintf("line %d is past the end", n)
		}
		before = index
	}
	return ""
}

// sum returns the sum of content of more than one chunk, with l as its body.
func (l lines) sum(size int64) (s Sum) {
	h := blake3.NewDeriveKey("vfsdb 2026-11 manifest v1")
	var head [8]byte
	binary.BigEndian.PutUint64(head[:], uint64(size))
	_, _ = h.Write(head[:])
	_, _ = h.Write(l)
	h.Sum(s[:0])
	return s
}

// putManifest stores a manifest whose chunks are stored, or finds it.
func putManifest(tx *schema.Tx, size int64, body lines, sum Sum) (id int64, err error) {
	return storeManifest(tx, size, sum, func() (manifestDelta, error) { return manifestDelta{lines: body}, nil })
}

// storeManifest is putManifest for a body in the form that form returns. It is called only if the manifest is not there.
func storeManifest(tx *schema.Tx, size int64, sum Sum, form func() (manifestDelta, error)) (id int64, err error) {
	id, found, err := tx.Int(`SELECT id FROM manifest WHERE sum = ?`, sum[:])
	if err != nil {
		return 0, fmt.Errorf("find manifest: %w", err)
	}

	if found {
		stored, err := manifestSum(tx, id)
		if err == nil && stored != sum { // as findBlob has it
			err = &CorruptError{Sum: sum, Manifest: id, Why: "has another sum in its row than in the index"}
		}
		if err != nil {
			return 0, err
		}
		return id, hold.Touch(tx, hold.Manifest, id)
	}

	d, err := form()
	if err != nil {
		return 0, err
	}
	if d.lines.count() > maxLines {
		return 0, syscall.EFBIG
	}

	if id, err = tx.NextID("manifest"); err != nil {
		return 0, err
	}
	if _, err := tx.Exec(`INSERT INTO manifest (id, sum, size, body) VALUES (?, ?, ?, ?)`, id, sum[:], size, d.bytes()); err != nil {
		return 0, fmt.Errorf("store manifest: %w", err)
	}
	if d.base != 0 {
		return id, addPatch(tx, hold.Manifest, d.base, id)
	}
	return id, nil
}

// manifestSum returns the sum of a manifest without reading its body.
func manifestSum(tx *schema.Tx, id int64) (Sum, error) {
	rows := tx.Query(`SELECT sum FROM manifest WHERE id = ?`, id)
	defer rows.Close()
	var sum Sum
	switch {
	case !rows.Next():
		return Sum{}, orMissing(rows, &CorruptError{Manifest: id, Why: "missing"})
	case !sum.scan(rows, 0):
		return Sum{}, &CorruptError{Manifest: id, Why: "has no sum in its row"}
	}
	return sum, nil
}

// loadManifest reads a manifest and verifies it.
func loadManifest(tx *schema.Tx, id int64) (size int64, body lines, err error) {
	rows := tx.Query(`SELECT sum, size, body FROM manifest WHERE id = ?`, id)
	defer rows.Close()

	// The size and the length of the body must fit before memory is taken for it.
	damage := &CorruptError{Manifest: id}
	if !rows.Next() {
		damage.Why = "missing"
		return 0, nil, orMissing(rows, damage)
	}
	size = rows.Int(1)
	switch {
	case !damage.Sum.scan(rows, 0):
		damage.Sum = Sum{}
		damage.Why = "has no sum in its row"
		return 0, nil, damage
	case size <= Size || size > MaxSize || int64(rows.Len(2)) > chunks(size)*int64(lineSize)+deltaHead:
		damage.Why = fmt.Sprintf("body of %d bytes for content of %d", rows.Len(2), size)
		return 0, nil, damage
	}

	d := manifestDeltaIn(rows.Bytes(2))
	body = d.lines
	if d.base != 0 {
		if body, damage.Why, err = d.onBase(tx, size); err != nil {
			return 0, nil, err
		}
	}

	if damage.Why == "" {
		damage.Why = body.check(size)
	}
	if damage.Why != "" {
		return 0, nil, damage
	}
	if body.sum(size) != damage.Sum {
		damage.Why = "body does not match its sum"
		return 0, nil, damage
	}
	return size, body, rows.Close()
}

// Blobs returns the ids of the blobs that a manifest is made of, in the order of its chunks. A manifest that is
// damaged, or names a blob that is missing or has another length than its chunk, is a [CorruptError].
func Blobs(tx *schema.Tx, manifest int64) ([]int64, error) {
	size, body, err := loadManifest(tx, manifest)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, 0, body.count())
	for n := range body.count() {
		index, sum := body.at(n)
		id, stored, err := blobSize(tx, sum)
		if err != nil {
			return nil, err
		}
		if want := lengthOf(size, index); stored != int64(want) {
			return nil, &CorruptError{Sum: sum, Blob: id, Why: fmt.Sprintf("says %d bytes where there must be %d", stored, want)}
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Lists reports whether a manifest has a line with one of these sums, of which those that are zero do not count. One
// that is damaged has none.
func Lists(tx *schema.Tx, manifest int64, sums ...Sum) (bool, error) {
	_, body, err := loadManifest(tx, manifest)
	if errors.Is(err, ErrCorrupt) {
		return false, nil
	}
	for n := range body.count() {
		_, sum := body.at(n)
		if slices.Contains(sums, sum) {
			return true, err
		}
	}
	return false, err
}
