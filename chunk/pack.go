package chunk

import (
	"encoding/binary"
	"fmt"

	"vfsdb/schema"
)

// A pack is one row for many small blobs: together they compress far better than apart, and take whole pages. Packs are
// added and deleted, never changed.

const (
	refSize = 12 // of a packRef, as it is stored
	idSize  = 8

	// packBytes is how many plain bytes a pack has at most, unless it holds one larger blob, and packBlobs how many blobs.
	// Reading one blob decompresses the whole pack: with packs twice as long the source of Go becomes smaller by a
	// thirtieth, and reading one of its files at random takes twice as long.
	packBytes = 64 << 10
	packBlobs = 256

	// packOver is how much longer a frame may be than its bytes. Blobs that are left over from a pack may not compress by
	// themselves, and take less space in a new pack all the same.
	packOver = 64
)

// A packRef is the place of a blob: from off on in the plain bytes of a pack.
type packRef struct {
	pack int64
	off  uint32
}

func (r packRef) bytes() []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, uint64(r.pack)), r.off)
}

// refIn reads column 4.
func refIn(rows *schema.Rows) (r packRef) {
	var b [refSize]byte
	if rows.Len(4) == len(b) && rows.Read(4, b[:]) == len(b) {
		r = packRef{pack: int64(binary.BigEndian.Uint64(b[:])), off: binary.BigEndian.Uint32(b[8:])}
	}
	return r
}

// An openPack is the pack that a connection used last, decompressed: files that are read one after the other are often in
// the same pack.
type openPack struct {
	id    int64
	bytes []byte
}

// unpack fills p with the bytes at a place in a pack. why is the fault of a damaged pack.
func unpack(tx *schema.Tx, at packRef, p []byte) (why string, err error) {
	open, _ := tx.Kept().(*openPack)
	if open != nil && open.id == at.pack {
		return open.copy(at, p), nil
	}

	rows := tx.Query(`SELECT size, data FROM pack WHERE id = ?`, at.pack)
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Close(); err != nil {
			return "", fmt.Errorf("load pack: %w", err)
		}
		return fmt.Sprintf("pack %d is missing", at.pack), nil
	}
	size, stored := rows.Int(0), rows.Len(1)
	if size < 1 || size > Size || int64(stored) > min(size+packOver, Size) {
		return fmt.Sprintf("pack %d says %d bytes in %d", at.pack, size, stored), nil
	}

	// A blob that is alone in its pack is decompressed into p; others into an openPack, which is kept.
	buf := takeBuffer()
	defer giveBuffer(buf)
	frame := buf[:rows.Read(1, buf[:stored])]
	into := p
	alone := at.off == 0 && size == int64(len(p))
	if !alone {
		if open == nil || int64(cap(open.bytes)) < size {
			open = &openPack{bytes: make([]byte, size)}
		}
		open.id, open.bytes = 0, open.bytes[:size] // until it is filled
		into = open.bytes
	}

	if !decompress(frame, into) {
		return fmt.Sprintf("pack %d is no zstd frame of its bytes", at.pack), nil
	}
	if alone {
		return "", nil
	}
	open.id = at.pack
	tx.Keep(open)
	return open.copy(at, p), nil
}

func (o *openPack) copy(at packRef, p []byte) (why string) {
	if int64(at.off)+int64(len(p)) > int64(len(o.bytes)) {
		return fmt.Sprintf("is past the end of pack %d", at.pack)
	}
	copy(p, o.bytes[at.off:])
	return ""
}

// addPack stores a pack of blobs.
func addPack(tx *schema.Tx, size int, blobs []int64, frame []byte) (id int64, err error) {
	if id, err = tx.NextID("pack"); err != nil {
		return 0, err
	}
	list := make([]byte, 0, len(blobs)*idSize)
	for _, blob := range blobs {
		list = binary.BigEndian.AppendUint64(list, uint64(blob))
	}
	if _, err := tx.Exec(`INSERT INTO pack (id, size, blobs, data) VALUES (?, ?, ?, ?)`, id, size, list, frame); err != nil {
		return 0, fmt.Errorf("store pack: %w", err)
	}
	return id, nil
}

// packOf returns the place of a blob in a pack, and its size; the zero values if it is in none, or is missing.
func packOf(tx *schema.Tx, blob int64) (r packRef, size int64, err error) {
	rows := tx.Query(`SELECT id, sum, size, codec, data FROM blob WHERE id = ? AND codec = 2`, blob)
	if rows.Next() {
		r, size = refIn(rows), rows.Int(2)
	}
	return r, size, rows.Close()
}

// leavePack deletes a pack once none of its blobs is in it any more.
func leavePack(tx *schema.Tx, pack int64) error {
	blobs, err := packList(tx, pack)
	if err != nil {
		return err
	}
	for n := len(blobs) - 1; n >= 0; n-- { // collectors take the first ones first, so the last is most likely left
		if r, _, err := packOf(tx, blobs[n]); err != nil || r.pack == pack {
			return err
		}
	}
	if _, err := tx.Exec(`DELETE FROM pack WHERE id = ?`, pack); err != nil {
		return fmt.Errorf("delete pack: %w", err)
	}
	return nil
}

// packList returns the blobs that a pack was made of. Some may no longer be in it.
func packList(tx *schema.Tx, pack int64) (blobs []int64, err error) {
	rows := tx.Query(`SELECT blobs FROM pack WHERE id = ?`, pack)
	defer rows.Close()
	if rows.Next() {
		if n := rows.Len(0); n%idSize != 0 || n > packBlobs*idSize {
			return nil, &CorruptError{Why: fmt.Sprintf("pack %d has a list of %d bytes", pack, n)}
		}
		blobs = idsIn(rows.Bytes(0))
	}
	return blobs, rows.Close()
}

func idsIn(list []byte) (ids []int64) {
	for ; len(list) >= idSize; list = list[idSize:] {
		ids = append(ids, int64(binary.BigEndian.Uint64(list)))
	}
	return ids
}

// CheckPack returns the fault of a pack, for a check: a pack that none of its blobs is in ought to have been deleted.
func CheckPack(tx *schema.Tx, pack int64) (why string, err error) {
	blobs, err := packList(tx, pack)
	if err != nil {
		return "", err
	}
	for _, blob := range blobs {
		if r, _, err := packOf(tx, blob); err != nil || r.pack == pack {
			return "", err
		}
	}
	return fmt.Sprintf("pack %d: no blob is in it", pack), nil
}
