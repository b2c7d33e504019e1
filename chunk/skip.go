package chunk

import (
	"io"
	"syscall"
)

// A Skipper is a reader that knows where zeros come without reading them, as a file of the host that has holes does.
type Skipper interface {
	io.Reader

	// SkipZeros passes over zeros that come next, and returns how many: a multiple of [Size], or all that is left.
	SkipZeros() (int64, error)
}

// skip passes over zeros before chunk i of r, and returns how many. At the end of r nothing is left but those.
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
