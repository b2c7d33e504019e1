package transfer

import (
	"archive/tar"
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"syscall"
	"time"

	"vfsdb/node"
	"vfsdb/vfs"
)

// ExportZip writes the contents of the directory from of the store as a zip archive, sorted by name within each
// directory. It keeps contents, 12 mode bits, symlinks, and times to the second from 1970 to 2106 (others become the
// nearest of those). A zip cannot hold owners. It cannot hold hard links, so each name of a file gets a copy, nor fifos
// and devices, which the [Report] lists as refused.
func ExportZip(ctx context.Context, fsys *vfs.FS, from string, w io.Writer, o *ExportOptions) (*Report, error) {
	report, err := exportArchive(ctx, fsys, from, &zipWriter{zip: zip.NewWriter(w)}, o)
	if err != nil {
		return nil, fmt.Errorf("export zip of %s: %w", from, err)
	}
	return report, nil
}

// ImportZip puts the entries of a zip archive of size bytes into the directory to of the store, by the rules of
// [ImportTar]. Entries without a Unix mode get 0644, directories 0755, and all belong to user and group 0. A name
// marked as another encoding than UTF-8 is taken byte for byte.
func ImportZip(ctx context.Context, fsys *vfs.FS, r io.ReaderAt, size int64, to string, o *ImportOptions) (*Report, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // our own rules refuse such names, one by one
		return nil, fmt.Errorf("import zip: %w", err)
	}
	report, err := importArchive(ctx, fsys, &zipReader{files: z.File}, to, o)
	if err != nil {
		err = fmt.Errorf("import zip: %w", err)
	}
	return report, err
}

// A zipWriter writes the entries of a tar into a zip.
type zipWriter struct {
	zip  *zip.Writer
	file io.Writer // the entry that is being written
}

func (z *zipWriter) hardLinks() bool { return false }

func (z *zipWriter) putXattrs(_ *tar.Header, info *vfs.Info) []string { return info.Xattrs() }

func (z *zipWriter) WriteHeader(h *tar.Header) error {
	out := &zip.FileHeader{Name: h.Name, Modified: zipTime(h.ModTime), Method: zip.Deflate}
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
		return errUnknownType
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

// zipTime returns the nearest time that fits a zip, which has 32 bits without a sign.
func zipTime(t time.Time) time.Time {
	return time.Unix(max(0, min(t.Unix(), math.MaxUint32)), 0).UTC()
}

func (z *zipWriter) Write(p []byte) (int, error) { return z.file.Write(p) }

func (z *zipWriter) Close() error { return z.zip.Close() }

// A zipReader reads the entries of a zip as those of a tar.
type zipReader struct {
	files []*zip.File
	open  io.ReadCloser // the content of the entry that Next returned last
}

func (z *zipReader) Next() (*tar.Header, error) {
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
		target, err := io.ReadAll(io.LimitReader(content, maxPath+1))
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

func (z *zipReader) Read(p []byte) (int, error) { return z.open.Read(p) }
