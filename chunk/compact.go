package chunk

import (
	"context"
	"errors"
	"fmt"

	"vfsdb/hold"
	"vfsdb/schema"
)

// This file makes blobs at rest smaller, in three steps, so that nobody waits for compression: a read transaction takes
// blobs in, MakePacks compresses them, and a short write transaction swaps each pack for the blobs in it.

const (
	looseBytes = 2 << 20 // that one transaction reads
	looseBlobs = 1024

	// alone is the length from which on a blob is compressed by itself, to see whether it shrinks. One that does not, such
	// as a picture, is left out of packs. Shorter blobs often shrink only together with others.
	alone = 4 << 10
)

// A Loose is a blob that may be stored in less space: its bytes, and how it is stored now.
type Loose struct {
	id    int64
	sum   Sum
	was   packRef // zero if it is not in a pack
	base  int64   // 0 if it is not stored as patches
	takes int     // bytes in the file
	data  []byte
}

// Size returns the length of the chunk.
func (l Loose) Size() int { return len(l.data) }

// A LooseBatch is the blobs that one transaction reads.
type LooseBatch struct {
	Blobs   []Loose
	Next    int64 // the id to go on with
	Damaged int64 // how many could not be read, and stay as they are
}

// Uncompacted returns the id from which on no compaction has looked at blobs, and the highest id. Staged blobs are
// among them: streams know their blobs by ids and sums, and neither changes.
func Uncompacted(tx *schema.Tx) (from, through int64, err error) {
	if from, err = tx.Reached("compact"); err != nil {
		return 0, 0, err
	}
	through, err = maxBlob(tx)
	return from, through, checkLast("blob", through, err)
}

// Compacted notes that all blobs before next were looked at.
func Compacted(tx *schema.Tx, next int64) error { return tx.Reach("compact", next) }

// NewestPack returns the highest id of a pack; 0 if there is none.
func NewestPack(tx *schema.Tx) (int64, error) {
	id, _, err := tx.Int(`SELECT max(id) FROM pack`)
	return id, checkLast("pack", id, err)
}

// checkLast refuses an id that no counter gives out. A caller that went on behind the highest number would begin again at
// the lowest.
func checkLast(table string, id int64, err error) error {
	if err == nil && id > schema.LastID {
		err = schema.Corrupt("table %s has the id %d", table, id)
	}
	return err
}

// LooseSize returns how many plain bytes the blobs have that ReadLoose would read.
func LooseSize(tx *schema.Tx, from, through int64) (int64, error) {
	size, _, err := tx.Int(`SELECT total(min(max(size, 0), 524288)) FROM blob WHERE id >= ? AND id <= ? AND codec <> 2`, from, through)
	return size, err
}

// ReadLoose reads and verifies blobs that are not in packs, by ascending id, as many as make up some packs.
func ReadLoose(tx *schema.Tx, from, through int64) (*LooseBatch, error) {
	b := &LooseBatch{Next: through + 1}
	rows := tx.Query(`SELECT id, size, codec, length(data) FROM blob WHERE id >= ? AND id <= ? AND codec <> 2 ORDER BY id`, from, through)
	defer rows.Close()

	var order schema.Ascent
	for bytes := int64(0); rows.Next(); {
		id, size := rows.Int(0), rows.Int(1)
		if err := order.To("blob", id); err != nil {
			return nil, err
		}

		if len(b.Blobs) > 0 && bytes+size > looseBytes || len(b.Blobs) == looseBlobs {
			b.Next = id
			break
		}
		if size < 1 || size > Size {
			b.Damaged++
			continue
		}

		bytes += size
		l := Loose{id: id, takes: int(rows.Int(3)), data: make([]byte, size)}
		if rows.Int(2) == patched {
			var err error
			if l.base, err = baseOf(tx, id); err != nil {
				return nil, err
			}
		}
		if err := b.read(tx, l); err != nil {
			return nil, err
		}
	}
	return b, rows.Close()
}

// read takes one blob in, unless it is damaged.
func (b *LooseBatch) read(tx *schema.Tx, l Loose) error {
	err := loadBlobID(tx, l.id, l.data)
	if errors.Is(err, ErrCorrupt) {
		b.Damaged++
		return nil
	}
	if err != nil {
		return err
	}
	l.sum = SumOf(l.data) // the same as in the row, which was verified
	b.Blobs = append(b.Blobs, l)
	return nil
}

// ReadWasted reads the blobs that are left in packs of which less than half is in use, by ascending id of the packs.
// Swapping them for new packs deletes the old ones.
func ReadWasted(tx *schema.Tx, from, through int64) (*LooseBatch, error) {
	b := &LooseBatch{Next: through + 1}
	rows := tx.Query(`SELECT id, size, length(data) FROM pack WHERE id >= ? AND id <= ? ORDER BY id`, from, through)
	defer rows.Close()

	var order schema.Ascent
	for bytes, seen := int64(0), 0; rows.Next(); seen++ {
		pack := rows.Int(0)
		if err := order.To("pack", pack); err != nil {
			return nil, err
		}
		if bytes > looseBytes || seen == looseBlobs {
			b.Next = pack
			break
		}

		left, used, err := packMembers(tx, pack)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			return nil, err
		}
		if err != nil || 2*used >= rows.Int(1) {
			continue
		}

		bytes += used
		for _, l := range left {
			l.takes = int(rows.Int(2)) / len(left)
			if err := b.read(tx, l); err != nil {
				return nil, err
			}
		}
	}
	return b, rows.Close()
}

// packMembers returns the blobs that are still in a pack, and how many bytes they have.
func packMembers(tx *schema.Tx, pack int64) (left []Loose, used int64, err error) {
	blobs, err := packList(tx, pack)
	if err != nil {
		return nil, 0, err
	}
	for _, id := range blobs {
		r, size, err := packOf(tx, id)
		if err != nil {
			return nil, 0, err
		}
		if r.pack == pack && size >= 1 && size <= Size {
			left = append(left, Loose{id: id, was: r, data: make([]byte, size)})
			used += size
		}
	}
	return left, used, nil
}

// A Pack is blobs that were compressed together, not yet stored.
type Pack struct {
	blobs []Loose
	frame []byte
	size  int
}

// Blobs returns how many blobs are in the pack.
func (p *Pack) Blobs() int64 { return int64(len(p.blobs)) }

// Before returns how many bytes the blobs take in the file before Swap.
func (p *Pack) Before() int64 {
	n := 0
	for _, l := range p.blobs {
		n += l.takes
	}
	return int64(n)
}

// After returns how many bytes they take after it.
func (p *Pack) After() int64 { return int64(len(p.frame) + len(p.blobs)*(refSize+idSize)) }

// MakePacks compresses blobs into packs, and leaves out those that would not shrink by a tenth. It is called outside of
// transactions.
func MakePacks(ctx context.Context, blobs []Loose) ([]*Pack, error) {
	var packs []*Pack
	current := &Pack{}
	end := func(p *Pack) {
		if p.squeeze() {
			packs = append(packs, p)
		}
	}

	for _, l := range blobs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}

		// A long blob has a pack to itself.
		if len(l.data) >= packBytes {
			end(&Pack{blobs: []Loose{l}, size: len(l.data)})
			continue
		}
		if len(l.data) >= alone && squeeze(l.data) == nil {
			continue
		}

		if current.size+len(l.data) > packBytes || len(current.blobs) == packBlobs {
			end(current)
			current = &Pack{}
		}
		current.blobs = append(current.blobs, l)
		current.size += len(l.data)
	}
	end(current)
	return packs, nil
}

// squeeze compresses the blobs, and reports whether that is worthwhile.
func (p *Pack) squeeze() bool {
	if len(p.blobs) == 0 {
		return false
	}
	bytes := p.blobs[0].data
	if len(p.blobs) > 1 {
		bytes = make([]byte, 0, p.size)
		for _, l := range p.blobs {
			bytes = append(bytes, l.data...)
		}
	}
	p.frame = compress(thorough, nil, bytes)
	return worthwhile(int(p.After()), int(p.Before()))
}

// ErrChanged means that blobs have changed since they were read: they were collected or compacted.
var ErrChanged = errors.New("blobs have changed meanwhile")

// Swap stores the pack and makes its blobs refer to it. If one of them is not as it was, it fails with ErrChanged, and
// the transaction must be given up.
func (p *Pack) Swap(tx *schema.Tx) error {
	ids := make([]int64, len(p.blobs))
	for n, l := range p.blobs {
		ids[n] = l.id
	}
	pack, err := addPack(tx, p.size, ids, p.frame)
	if err != nil {
		return err
	}

	// All rows leave before the first comes back, see leave.
	left := make(map[int64]bool)
	for _, l := range p.blobs {
		if err := l.leave(tx); err != nil {
			return err
		}
		if l.was.pack != 0 {
			left[l.was.pack] = true
		}
	}
	at := packRef{pack: pack}
	for _, l := range p.blobs {
		if err := l.enter(tx, at); err != nil {
			return err
		}
		at.off += uint32(len(l.data))
	}

	// A pack that none of its blobs is in any more goes.
	for pack := range left {
		if err := leavePack(tx, pack); err != nil {
			return err
		}
	}
	return nil
}

// leave deletes the row of a blob, and enter puts it back: SQLite joins pages when rows are deleted, but not when they
// shrink. The bytes of a blob never change, so leave only checks that it is still stored in the same way.
func (l Loose) leave(tx *schema.Tx) (err error) {
	var n int64
	if l.was.pack == 0 {
		n, err = tx.Exec(`DELETE FROM blob WHERE id = ? AND codec <> 2`, l.id)
	} else {
		n, err = tx.Exec(`DELETE FROM blob WHERE id = ? AND codec = 2 AND data = ?`, l.id, l.was.bytes())
	}
	if err != nil {
		return fmt.Errorf("compact blob %d: %w", l.id, err)
	}
	if n == 0 {
		return ErrChanged
	}
	if l.base != 0 {
		return dropPatch(tx, hold.Blob, l.base, l.id)
	}
	return nil
}

func (l Loose) enter(tx *schema.Tx, at packRef) error {
	_, err := tx.Exec(`INSERT INTO blob (id, sum, size, codec, data) VALUES (?, ?, ?, 2, ?)`, l.id, l.sum[:], len(l.data), at.bytes())
	if err != nil {
		return fmt.Errorf("compact blob %d: %w", l.id, err)
	}
	return nil
}
