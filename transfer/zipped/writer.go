package zipped

import (
	"archive/tar"
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"math"
	"syscall"
	"time"

	"github.com/klauspost/compress/flate"

	"vfsdb/node"
)

// A Writer writes the entries of a tar into a zip.
type Writer struct {
	zip  *zip.Writer
	file io.Writer // the entry that is being written

	deflate *flate.Writer // of each entry in turn
}

// ErrType is the error of an entry of a type that a zip cannot hold.
var ErrType = fmt.Errorf("a file of unknown type: %w", syscall.EINVAL)

// NewWriter returns a Writer of a zip.
func NewWriter(w io.Writer) *Writer {
	z := &Writer{zip: zip.NewWriter(w)}
	z.zip.RegisterCompressor(zip.Deflate, z.pack)
	return z
}

// pack begins to compress an entry. One entry is written at a time, so all share a compressor.
func (z *Writer) pack(w io.Writer) (io.WriteCloser, error) {
	if z.deflate != nil {
		z.deflate.Reset(w)
		return z.deflate, nil
	}
	var err error
	z.deflate, err = flate.NewWriter(w, flate.DefaultCompression)
	return z.deflate, err
}

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
