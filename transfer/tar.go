package transfer

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"io/fs"

	"vfsdb/transfer/tarred"
	"vfsdb/vfs"
)

// ExportTar writes the contents of the directory from of the store as a tar stream in the PAX format, sorted by name
// within each directory. The directory itself is the entry "./". A file that has several names in it is written once,
// and its further names are hard links. Holes are written as zeros.
func ExportTar(ctx context.Context, fsys *vfs.FS, from string, w io.Writer, o *ExportOptions) (*Report, error) {
	report, err := exportArchive(ctx, fsys, from, tarWriter{tar.NewWriter(w)}, o)
	if err != nil {
		return nil, fmt.Errorf("export tar of %s: %w", from, err)
	}
	return report, nil
}

// ImportTar puts the entries of a tar stream into the directory to of the store, which is created with its parents if
// need be. It keeps contents, 12 mode bits, owners, modification times, symlinks, hard links, fifos, devices, and the
// extended attributes of the namespace user, as PAX records with the prefix SCHILY.xattr have them. Of entries with the same name the last one stays.
//
// r is read to its end before names are made, so the checksum of a packed stream counts, and a program that writes into a pipe
// may finish. What follows the end of the tar is dropped. A stream that ends between two entries is a whole tar, as it is for tar.
//
// A slash at the start of a name is dropped. Refused are names with a ".." in them or with a segment over 255 bytes,
// names that lead through a symlink or a file, hard links to a name that is not in the archive before them, and entries
// of unknown types. A refusal fails the import with a [RefusedError]. With Partial it is listed in the Report instead,
// and of a damaged archive the part before the damage goes in.
func ImportTar(ctx context.Context, fsys *vfs.FS, r io.Reader, to string, o *ImportOptions) (*Report, error) {
	report, err := importArchive(ctx, fsys, tarred.NewReader(ctx, r), to, o)
	if err != nil {
		err = fmt.Errorf("import tar: %w", err)
	}
	return report, err
}

// A tarWriter writes a tar, which can hold hard links.
type tarWriter struct{ *tar.Writer }

func (tarWriter) hardLinks() bool { return true }

func (tarWriter) putXattrs(h *tar.Header, info *vfs.Info) []string { return putTarXattrs(h, info) }

// tarHeader describes an item; nil for a socket, which an archive cannot hold.
func tarHeader(it *item) *tar.Header {
	i := it.info
	h := &tar.Header{Format: tar.FormatPAX, Name: it.path}
	putTar(h, i)

	switch i.Mode().Type() {
	case 0:
		h.Typeflag, h.Size = tar.TypeReg, i.Size()
	case fs.ModeDir:
		h.Typeflag = tar.TypeDir
		h.Name += "/"
		if it.path == "" {
			h.Name = "./"
		}
	case fs.ModeSymlink:
		h.Typeflag, h.Linkname = tar.TypeSymlink, i.Target()
	case fs.ModeNamedPipe:
		h.Typeflag = tar.TypeFifo
	case fs.ModeDevice | fs.ModeCharDevice:
		h.Typeflag = tar.TypeChar
	case fs.ModeDevice:
		h.Typeflag = tar.TypeBlock
	default:
		return nil
	}
	return h
}
