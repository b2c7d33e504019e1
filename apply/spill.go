package apply

import (
	"bytes"
	"io"
	"os"
)

// maxInMemory is how much all contents that are held take of memory. Tests lower it.
var maxInMemory int64 = 64 << 20

// A spill keeps contents until they are written: the first ones in memory, the others in a file without a name.
type spill struct {
	memory int64
	file   *os.File
	size   int64
}

// keep keeps a content.
func (s *spill) keep(data []byte) (*io.SectionReader, error) {
	size := int64(len(data))
	if s.memory+size <= maxInMemory {
		s.memory += size
		return io.NewSectionReader(bytes.NewReader(data), 0, size), nil
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "vfs-apply-")
		if err != nil {
			return nil, err
		}
		_ = os.Remove(f.Name()) // some systems only do that when it is closed
		s.file = f
	}

	if _, err := s.file.WriteAt(data, s.size); err != nil {
		return nil, err
	}
	s.size += size
	return io.NewSectionReader(s.file, s.size-size, size), nil
}

// close gives all contents up.
func (s *spill) close() {
	if s.file != nil {
		s.file.Close()
		_ = os.Remove(s.file.Name())
	}
}
