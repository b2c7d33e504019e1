package transfer

import (
	"archive/tar"
	"context"
	"fmt"
	"io"

	"vfsdb/transfer/zipped"
	"vfsdb/vfs"
)

// ExportZip writes the contents of the directory from of the store as a zip archive, sorted by name within each
// directory. It keeps contents, 12 mode bits, symlinks, and times to the second from 1970 to 2106 (others become the
// nearest of those). A zip cannot hold owners. It cannot hold hard links, so each name of a file gets a copy, nor fifos
// and devices, which the [Report] lists as refused.
func ExportZip(ctx context.Context, fsys *vfs.FS, from string, w io.Writer, o *ExportOptions) (*Report, error) {
	report, err := exportArchive(ctx, fsys, from, zipWriter{zipped.NewWriter(w)}, o)
	if err != nil {
		return nil, fmt.Errorf("export zip of %s: %w", from, err)
	}
	return report, nil
}

// ImportZip puts the entries of a zip archive of size bytes into the directory to of the store, by the rules of
// [ImportTar]. Entries without a Unix mode get 0644, directories 0755, and all belong to user and group 0. A name
// marked as another encoding than UTF-8 is taken byte for byte. In a name of DOS without a slash, backslashes are slashes.
func ImportZip(ctx context.Context, fsys *vfs.FS, r io.ReaderAt, size int64, to string, o *ImportOptions) (*Report, error) {
	z, err := zipped.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("import zip: %w", err)
	}
	report, err := importArchive(ctx, fsys, z, to, o)
	if err != nil {
		err = fmt.Errorf("import zip: %w", err)
	}
	return report, err
}

// A zipWriter writes a zip, which can hold no hard links.
type zipWriter struct{ *zipped.Writer }

func (zipWriter) hardLinks() bool { return false }

func (zipWriter) putXattrs(_ *tar.Header, info *vfs.Info) []string { return info.Xattrs() }
