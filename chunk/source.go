package chunk

import (
	"context"
	"errors"
	"io"
	"syscall"
)

// A Skipper is a reader that can skip zeros without reading them, such as a file of the host that has holes.
type Skipper interface {
	io.Reader

	// SkipZeros skips zeros that come next, and returns how many: a multiple of [Size], or all that is left.
	SkipZeros() (int64, error)
}

// skip skips zeros before chunk i of r, and returns how many. end means that r ends with them.
func skip(r io.Reader, i int64) (n int64, end bool, err error) {
	s, ok := r.(Skipper)
	if !ok {
		return 0, false, nil
	}
	n, err = s.SkipZeros()
	switch {
	case err != nil:
		return 0, false, err
	case n < 0:
		return 0, false, errRead
	case n > MaxSize-i*Size:
		return 0, false, syscall.EFBIG
	}
	return n, n%Size != 0, nil
}

// errRead is the fault of a reader that returns a count that cannot be.
var errRead = errors.New("reader returned an impossible count")

// fill reads until p is full or r ends, which is io.EOF. It is not io.ReadFull: that returns ErrUnexpectedEOF where r ends,
// and a source uses the same error to report that it was cut off.
func fill(ctx context.Context, r io.Reader, p []byte) (n int, err error) {
	for idle := 0; n < len(p); {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		got, err := r.Read(p[n:])
		if got < 0 || got > len(p)-n {
			return n, errRead
		}
		n += got

		switch {
		case err != nil:
			return n, err
		case got > 0:
			idle = 0
		default:
			if idle++; idle == 100 {
				return n, io.ErrNoProgress
			}
		}
	}
	return n, nil
}
