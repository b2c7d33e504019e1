package zipped

import (
	"archive/tar"
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"syscall"
	"time"

	"vfsdb/node"
)

// A Writer writes the entries of a tar into a zip.
type Writer struct {
	zip  *zip.Writer
	file io.Writer // the entry that is being written
}

// ErrType is the error of an entry of a type that a zip cannot hold.
var ErrType = fmt.Errorf("a file of unknown type: %w", syscall.EINVAL)

// maxTarget is how much of the target of a symlink is read: a byte more than any can have.
const maxTarget = 4096

// NewWriter returns a Writer of a zip.
func NewWriter(w io.Writer) *Writer { return &Writer{zip: zip.NewWriter(w)} }

// WriteHeader begins an entry.
func (z *Writer) WriteHeader(h *tar.Header) error {
	out := &zip.FileHeader{Name: h.Name, Modified: nearest(h.ModTime), Method: zip.Deflate}
	mode := node.FileMode(uint32(h.Mode))
	switch h.Typeflag {
	case tar.TypeReg:
	case tar.TypeDir:
		if h.Name == "./" {
			return nil // a zip has no entry for its root
		}
		out.Method = zip.Store
		mode |= fs.ModeDir
	case tar.TypeSymlink:
		mode |= fs.ModeSymlink
	default:
		return ErrType
	}
	out.SetMode(mode)

	file, err := z.zip.CreateHeader(out)
	if err != nil {
		return err
	}
	z.file = file
	if h.Typeflag == tar.TypeSymlink {
		_, err = io.WriteString(file, h.Linkname)
	}
	return err
}

// nearest returns the nearest time that fits a zip, which has 32 bits without a sign.
func nearest(t time.Time) time.Time {
	return time.Unix(max(0, min(t.Unix(), math.MaxUint32)), 0).UTC()
}

// Write writes the content of the entry that WriteHeader began.
func (z *Writer) Write(p []byte) (int, error) { return z.file.Write(p) }

// Close ends the zip. It does not close what it is written to.
func (z *Writer) Close() error { return z.zip.Close() }

// A Reader reads the entries of a zip as those of a tar.
type Reader struct {
	files []*zip.File
	open  io.ReadCloser // the content of the entry that Next returned last
}

// NewReader returns a Reader of a zip of size bytes. It takes names that lead out of the zip as they are: the caller refuses
// them.
func NewReader(r io.ReaderAt, size int64) (*Reader, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, err
	}
	return &Reader{files: z.File}, nil
}

// Next begins the next entry. After the last one it returns io.EOF.
func (z *Reader) Next() (*tar.Header, error) {
	if z.open != nil {
		if err := z.open.Close(); err != nil {
			return nil, err
		}
		z.open = nil
	}
	if len(z.files) == 0 {
		return nil, io.EOF
	}
	f := z.files[0]
	z.files = z.files[1:]

	mode := f.Mode()
	h := &tar.Header{Name: f.Name, ModTime: f.Modified, Mode: int64(node.UnixPerm(mode)), Typeflag: tar.TypeReg, Size: int64(f.UncompressedSize64)}
	if h.Size < 0 {
		return nil, fmt.Errorf("%q: %w", f.Name, syscall.EFBIG)
	}
	if f.Flags&encrypted != 0 {
		return nil, fmt.Errorf("%q is encrypted: %w", f.Name, syscall.ENOTSUP)
	}
	content, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%q: %w", f.Name, err)
	}
	z.open = content

	switch mode.Type() {
	case 0:
	case fs.ModeDir:
		h.Typeflag, h.Size = tar.TypeDir, 0
	case fs.ModeSymlink:
		target, err := io.ReadAll(io.LimitReader(content, maxTarget+1))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", f.Name, err)
		}
		h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, string(target), 0
	default:
		h.Typeflag = unknownEntry
	}
	if by := f.CreatorVersion >> 8; by != byUnix && by != byDarwin {
		h.Mode = 0o644
		if mode.IsDir() {
			h.Mode = 0o755
		}
	}
	return h, nil
}

// encrypted is the flag of an entry that is encrypted.
const encrypted = 1

// The systems whose archives have Unix modes, as an entry names the system that made it.
const (
	byUnix   = 3
	byDarwin = 19
)

// unknownEntry is a type that no tar has, so it is refused.
const unknownEntry = '?'

// Read reads the content of the entry that Next returned.
func (z *Reader) Read(p []byte) (int, error) { return z.open.Read(p) }
