package sparse

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"vfsdb/chunk"
)

// A sparseFile reads a file of the host from its beginning, and skips its holes.
type sparseFile struct {
	*os.File
	at    int64
	seeks bool // the file system can seek to the end of a hole
}

// Holes returns a reader of a file that skips its holes. It is a [chunk.Skipper] if the file may have any.
func Holes(f *os.File) io.Reader {
	info, err := f.Stat()
	if err != nil {
		return f
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Blocks*512 >= info.Size() || info.Size() < chunk.Size {
		return f
	}
	return &sparseFile{File: f, seeks: true}
}

func (s *sparseFile) Read(p []byte) (int, error) {
	n, err := s.File.Read(p)
	s.at += int64(n)
	return n, err
}

// SkipZeros makes a sparseFile a [chunk.Skipper].
func (s *sparseFile) SkipZeros() (int64, error) {
	if !s.seeks {
		return 0, nil
	}

	data, err := s.Seek(s.at, unix.SEEK_DATA)
	switch {
	case errors.Is(err, syscall.ENXIO): // nothing but a hole until the end
		data, err = s.Seek(0, io.SeekEnd)
	case err == nil:
		data -= (data - s.at) % chunk.Size
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOTSUP):
		s.seeks, data, err = false, s.at, nil
	}
	if err != nil {
		return 0, err
	}

	skipped := max(0, data-s.at)
	s.at += skipped
	_, err = s.Seek(s.at, io.SeekStart)
	return skipped, err
}
