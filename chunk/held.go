package chunk

import "io"

// ReadHeld is ReadAt without a transaction, for a read that the chunk kept by the last one can answer. ok is false,
// and nothing is read, if it cannot.
func (r *Reader) ReadHeld(p []byte, off int64) (n int, ok bool, err error) {
	start := off - r.at*Size
	if r.at < 0 || start < 0 || start > int64(len(r.kept)) {
		return 0, false, nil
	}
	n = copy(p, r.kept[start:])
	switch {
	case n == len(p):
		return n, true, nil
	case r.at*Size+int64(len(r.kept)) == r.content.Size:
		return n, true, io.EOF
	}
	return 0, false, nil
}
