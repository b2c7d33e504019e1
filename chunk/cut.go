package chunk

import (
	"context"
	"errors"
	"io"
)

// errRead is the fault of a reader that says it read more than there was room for.
var errRead = errors.New("reader returned an impossible count")

// fill reads until p is full or r ends, which is io.EOF. It is not io.ReadFull, which ends with ErrUnexpectedEOF where
// r does, and a source uses that very error to say that it was cut off.
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
