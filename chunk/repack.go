package chunk

import (
	"errors"

	"vfsdb/schema"
)

// HollowPacks returns up to limit packs, by id from behind after on, that still have the bytes of blobs that are gone. The
// next call goes on from last; done means that there are no more packs.
func HollowPacks(tx *schema.Tx, after int64, limit int) (packs []int64, last int64, done bool, err error) {
	last = after
	rows := tx.Query(`SELECT id, size FROM pack WHERE id > ? ORDER BY id LIMIT ?`, after, limit)
	defer rows.Close()

	var order schema.Ascent
	n := 0
	for ; rows.Next(); n++ {
		last = rows.Int(0)
		if err := order.To("pack", last); err != nil {
			return nil, last, false, err
		}
		_, used, err := packMembers(tx, last)
		if err != nil {
			return nil, last, false, err
		}
		if used < rows.Int(1) {
			packs = append(packs, last)
		}
	}
	return packs, last, n < limit, rows.Err()
}

// Repack puts the blobs that are left in a pack into a new one, whether that is smaller or not, and deletes the old one.
func Repack(tx *schema.Tx, pack int64) error {
	left, _, err := packMembers(tx, pack)
	if err != nil {
		return err
	}

	made := &Pack{}
	var bytes []byte
	for _, l := range left {
		if err := loadBlobID(tx, l.id, l.data); err != nil {
			return err
		}
		l.sum = SumOf(l.data)
		made.blobs = append(made.blobs, l)
		bytes = append(bytes, l.data...)
	}
	if made.size = len(bytes); made.size == 0 {
		return leavePack(tx, pack)
	}
	made.frame = compress(thorough, nil, bytes)
	return made.Swap(tx)
}

// BaseBlob returns the blob that another is stored over; 0 if it is whole, or is missing.
func BaseBlob(tx *schema.Tx, id int64) (int64, error) { return baseOf(tx, id) }

// Stays returns the first of some sums that content in the file has; ok is false if there is none.
func Stays(tx *schema.Tx, sums []Sum) (sum Sum, ok bool, err error) {
	for _, sum := range sums {
		_, ok, err := Find(tx, sum)
		if ok || err != nil && !errors.Is(err, ErrCorrupt) {
			return sum, ok, err
		}
	}
	return Sum{}, false, nil
}
