package sparse

import (
	"io"
	"os"

	"vfsdb/chunk"
)

// A Source reads a file and skips its holes. It remembers whether it was the one that failed.
type Source struct {
	r   io.Reader
	Err error
}

// NewSource returns a Source of an open file.
func NewSource(f *os.File) *Source { return &Source{r: Holes(f)} }

// Read reads on.
func (s *Source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.Err = err
	}
	return n, err
}

// SkipZeros makes a Source a [chunk.Skipper].
func (s *Source) SkipZeros() (n int64, err error) {
	if r, ok := s.r.(chunk.Skipper); ok {
		n, err = r.SkipZeros()
		s.Err = err
	}
	return n, err
}
