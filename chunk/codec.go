package chunk

import (
	"fmt"

	"vfsdb/schema"
)

// How blob.data holds the bytes of a chunk.
const (
	plain    = 0 // as they are
	squeezed = 1 // as a zstd frame of their own
	packed   = 2 // not at all: it is a packRef
	patched  = 3 // as a delta: what lies over the bytes of another blob
)

// unfold fills p with the bytes of the chunk that a row of blob is about: its columns are id, sum, size, codec and
// data. This is the one place that knows what is in data. why says what is wrong with the row; nothing is verified yet.
func unfold(tx *schema.Tx, rows *schema.Rows, p []byte) (why string, err error) {
	size, codec, stored := rows.Int(2), rows.Int(3), rows.Len(4)
	switch {
	case size != int64(len(p)):
		return fmt.Sprintf("says %d bytes where there must be %d", size, len(p)), nil
	case codec == plain && stored != len(p):
		return fmt.Sprintf("holds %d bytes where there must be %d", stored, len(p)), nil
	case codec == plain:
		rows.Read(4, p)
		return "", nil
	case codec == squeezed && stored >= len(p), codec == packed && stored != refSize, codec == patched && stored >= len(p):
		return fmt.Sprintf("holds %d bytes, which codec %d never needs", stored, codec), nil
	case codec == squeezed:
		buf := takeBuffer()
		defer giveBuffer(buf)
		if n := rows.Read(4, buf[:stored]); !decompress(buf[:n], p) {
			return "is no zstd frame of its bytes", nil
		}
		return "", nil
	case codec == packed:
		return unpack(tx, refIn(rows), p)
	case codec == patched:
		buf := takeBuffer()
		defer giveBuffer(buf)
		return layOver(tx, buf[:rows.Read(4, buf[:stored])], p)
	}
	return fmt.Sprintf("unknown codec %d", codec), nil
}

// squeeze returns the frame of a chunk, or nil if that is not worthwhile.
func squeeze(p []byte) []byte {
	if frame := compress(quick, nil, p); worthwhile(len(frame), len(p)) {
		return frame
	}
	return nil
}
