package zipped

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"syscall"

	"github.com/klauspost/compress/flate"

	"vfsdb/node"
)

// A Reader reads the entries of a zip as those of a tar.
type Reader struct {
	files []*zip.File
	now   *zip.File     // the entry that Next returned last
	open  io.ReadCloser // its content, once it is read

	packed  *bufio.Reader // of each entry in turn
	inflate io.ReadCloser
}

// ErrOverlap is the error of a zip in which entries share their bytes, so that a small file has terabytes of content.
var ErrOverlap = fmt.Errorf("entries of the zip share their bytes, as in a zip bomb: %w", syscall.EINVAL)

// maxTarget is how much of the target of a symlink is read: a byte more than any can have.
const maxTarget = 4096

// encrypted is the flag of an entry that is encrypted.
const encrypted = 1

// The systems that an entry may name as the one that made it: those whose archives have Unix modes, and the one that may
// separate names by backslashes.
const (
	byDOS    = 0
	byUnix   = 3
	byDarwin = 19
)

// unknownEntry is a type that no tar has, so it is refused.
const unknownEntry = '?'

// NewReader returns a Reader of a zip of size bytes. It takes names that lead out of the zip as they are: the caller refuses
// them.
func NewReader(r io.ReaderAt, size int64) (*Reader, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, err
	}
	if overlap(z.File) {
		return nil, ErrOverlap
	}
	out := &Reader{files: z.File, packed: bufio.NewReaderSize(nil, 64<<10)}
	out.inflate = flate.NewReader(out.packed)
	z.RegisterDecompressor(zip.Deflate, out.unpack)
	return out, nil
}

// unpack begins to decompress an entry. One entry is read at a time, so all share a decompressor.
func (z *Reader) unpack(r io.Reader) io.ReadCloser {
	z.packed.Reset(r)
	if err := z.inflate.(flate.Resetter).Reset(z.packed, nil); err != nil {
		return flate.NewReader(z.packed)
	}
	return z.inflate
}

// overlap reports whether two entries share bytes. What a damaged entry has is found out when it is read.
func overlap(files []*zip.File) bool {
	type span struct{ from, to uint64 }
	var spans []span
	for _, f := range files {
		if from, err := f.DataOffset(); err == nil && f.CompressedSize64 > 0 {
			spans = append(spans, span{uint64(from), uint64(from) + min(f.CompressedSize64, math.MaxInt64)})
		}
	}

	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(spans); i++ {
		if spans[i].from < spans[i-1].to {
			return true
		}
	}
	return false
}

// Next begins the next entry. After the last one it returns io.EOF. An entry that cannot be read comes with the reason, and
// others follow.
func (z *Reader) Next() (*tar.Header, error) {
	if err := z.closeEntry(); err != nil {
		return nil, err
	}
	if len(z.files) == 0 {
		return nil, io.EOF
	}
	f := z.files[0]
	z.now, z.files = f, z.files[1:]
	if f.CreatorVersion>>8 == byDOS && !strings.Contains(f.Name, "/") {
		f.Name = strings.ReplaceAll(f.Name, `\`, "/") // as unzip does it
	}

	h := &tar.Header{Name: f.Name, ModTime: f.Modified, Mode: modeOf(f), Typeflag: tar.TypeReg, Size: int64(f.UncompressedSize64)}
	switch f.Mode().Type() {
	case 0:
		return h, readable(f)
	case fs.ModeDir:
		h.Typeflag, h.Size = tar.TypeDir, 0
		return h, nil
	case fs.ModeSymlink:
		h.Typeflag, h.Size = tar.TypeSymlink, 0
		if err := readable(f); err != nil {
			return h, err
		}
		target, err := io.ReadAll(io.LimitReader(z, maxTarget+1))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", f.Name, err)
		}
		h.Linkname = string(target)
		return h, nil
	case fs.ModeNamedPipe:
		if h.Size > 0 { // zip has read its standard input, which was a pipe
			return h, readable(f)
		}
	}
	h.Typeflag = unknownEntry
	return h, nil
}

// modeOf returns the permission bits of an entry. One that a system or a program without them wrote has the usual ones.
func modeOf(f *zip.File) int64 {
	mode := f.Mode()
	switch by := f.CreatorVersion >> 8; {
	case (by == byUnix || by == byDarwin) && f.ExternalAttrs>>16 != 0:
		return int64(node.UnixPerm(mode))
	case mode.IsDir():
		return 0o755
	}
	return 0o644
}

// readable returns the reason why the content of an entry cannot be read, if there is one.
func readable(f *zip.File) error {
	switch {
	case f.Flags&encrypted != 0:
		return fmt.Errorf("it is encrypted: %w", syscall.ENOTSUP)
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return fmt.Errorf("it is compressed by method %d, and only 0, stored, and %d, deflate, are known: %w", f.Method, zip.Deflate, syscall.ENOTSUP)
	case f.UncompressedSize64 > math.MaxInt64:
		return fmt.Errorf("%d bytes: %w", f.UncompressedSize64, syscall.EFBIG)
	}
	return nil
}

// Read reads the content of the entry that Next returned. At its end the checksum is verified.
func (z *Reader) Read(p []byte) (int, error) {
	if z.open == nil {
		content, err := z.now.Open()
		if err == io.EOF { // the entry lies behind the end of the file, which is not the end of its content
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, err
		}
		z.open = content
	}
	return z.open.Read(p)
}

// closeEntry ends the entry that is being read.
func (z *Reader) closeEntry() error {
	if z.open == nil {
		return nil
	}
	err := z.open.Close()
	z.open = nil
	return err
}
