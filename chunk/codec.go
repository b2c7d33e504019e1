package chunk

import (
	"fmt"

	"vfsdb/schema"
)

// How blob.data holds the bytes of a chunk.
const (
	plain    = 0 // as they are
	squeezed = 1 // as a zstd frame of their own
	packed   = 2 // not at all: data is a packRef
	patched  = 3 // as a delta: the bytes that lie over those of another blob
)

// unfold fills p with the chunk of a row of blob, whose columns are id, sum, size, codec and data. Only this function
// reads data, for all codecs. why is the fault of a damaged row; the bytes are not verified yet.
func unfold(tx *schema.Tx, rows *schema.Rows, p []byte) (why string, err error) {
	size, codec, stored := rows.Int(2), rows.Int(3), rows.Len(4)

	// The lengths must be right before anything is read into p.
	switch {
	case size != int64(len(p)):
		return fmt.Sprintf("says %d bytes where there must be %d", size, len(p)), nil
	case codec == plain && stored != len(p):
		return fmt.Sprintf("holds %d bytes where there must be %d", stored, len(p)), nil
	case codec == squeezed && stored >= len(p), codec == packed && stored != refSize, codec == patched && stored >= len(p):
		return fmt.Sprintf("holds %d bytes, which codec %d never needs", stored, codec), nil
	}

	switch codec {
	case plain:
		rows.Read(4, p)
		return "", nil
	case squeezed:
		buf := takeBuffer()
		defer giveBuffer(buf)
		if n := rows.Read(4, buf[:stored]); !decompress(buf[:n], p) {
			return "is no zstd frame of its bytes", nil
		}
		return "", nil
	case packed:
		return unpack(tx, refIn(rows), p)
	case patched:
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
