package archive

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow is the largest window of zstd that is read. A frame may ask for any, and the decoder has to hold it in memory.
const maxWindow = 128 << 20

// unpack returns the tar inside of a packed stream. As the programs do, it ignores garbage behind the last whole part.
func unpack(b *bufio.Reader, f Format) (io.ReadCloser, error) {
	switch f {
	case TarGz:
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, err
		}
		z.Multistream(false)
		return &gunzip{z, b}, nil
	case TarZst:
		z, err := zstd.NewReader(b, zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return &unzstd{frames: z}, nil
	}
	return nil, fmt.Errorf("%q is no format of archives: %w", f, syscall.EINVAL)
}

// A gunzip reads the members of a gzip stream one after the other.
type gunzip struct {
	member *gzip.Reader
	from   *bufio.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	n, err := g.member.Read(p)
	if err != io.EOF {
		return n, err
	}

	// A member has ended, and its checksum was right.
	next, err := g.from.Peek(2)
	switch {
	case err != nil && err != io.EOF:
		return n, err
	case string(next) != "\x1f\x8b":
		return n, io.EOF
	}
	if err := g.member.Reset(g.from); err != nil {
		return n, err
	}
	g.member.Multistream(false)
	return n, nil
}

// Close has nothing to stop.
func (g *gunzip) Close() error { return nil }

// An unzstd reads the frames of a zstd stream one after the other.
type unzstd struct {
	frames *zstd.Decoder
	begun  bool
}

func (u *unzstd) Read(p []byte) (int, error) {
	n, err := u.frames.Read(p)
	switch {
	case errors.Is(err, zstd.ErrMagicMismatch) && u.begun:
		err = io.EOF
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		err = fmt.Errorf("its window is larger than %d MiB (zstd -dc --long=31 unpacks it): %w", maxWindow>>20, err)
	}
	u.begun = u.begun || n > 0
	return n, err
}

// Close stops the decoder.
func (u *unzstd) Close() error {
	u.frames.Close()
	return nil
}
