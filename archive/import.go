package archive

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"vfsdb/transfer"
	"vfsdb/vfs"
)

// Import puts the entries of an archive into the directory to of the store, by the rules of [transfer.ImportTar]. The format
// "" recognises the archive by its first bytes; what they do not tell is taken for a tar. Any other format is that of the
// archive, and if it shows another one, that is EINVAL. A stream without a byte is no archive.
//
// The list of a zip is at its end. If r is a regular file, Import reads there; it copies any other zip into a temporary file first,
// of whatever size, which is gone when Import returns.
func Import(ctx context.Context, fsys *vfs.FS, r io.Reader, to string, f Format, o *transfer.ImportOptions) (*transfer.Report, error) {
	b := bufio.NewReaderSize(r, 256<<10)
	f, err := formatIn(b, f)
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	switch f {
	case Tar:
		return transfer.ImportTar(ctx, fsys, b, to, o)
	case Zip:
		return importZip(ctx, fsys, r, b, to, o)
	}

	tar, err := unpack(b, f)
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", f, err)
	}
	defer tar.Close()
	return transfer.ImportTar(ctx, fsys, tar, to, o)
}

// formatIn returns the format of a stream, which the caller may know.
func formatIn(b *bufio.Reader, known Format) (Format, error) {
	start, ended := b.Peek(StartSize) // its error comes again when the bytes are read
	if len(start) == 0 && ended == io.EOF && known != Zip {
		return "", fmt.Errorf("there is not a byte: %w", io.ErrUnexpectedEOF) // as of a program that has failed
	}
	found, err := Detect(start)
	switch {
	case err != nil:
		return "", err
	case known == "":
		return cmp.Or(found, Tar), nil
	case found != "" && found != known:
		return "", fmt.Errorf("it is a %s, not a %s: %w", found, known, syscall.EINVAL)
	case found == "" && (known == TarGz || known == TarZst):
		return "", fmt.Errorf("it is no %s: %w", known, syscall.EINVAL)
	}
	return known, nil
}

// importZip takes in a zip: from the file r itself if it is a regular one, or else all of b, which r has filled.
func importZip(ctx context.Context, fsys *vfs.FS, r, b io.Reader, to string, o *transfer.ImportOptions) (*transfer.Report, error) {
	if file, ok := r.(*os.File); ok {
		info, err := file.Stat()
		if err != nil {
			return nil, fmt.Errorf("import zip: %w", err)
		}
		if info.Mode().IsRegular() {
			return transfer.ImportZip(ctx, fsys, file, info.Size(), to, o)
		}
	}

	spool, size, err := spooled(ctx, b)
	if err != nil {
		return nil, fmt.Errorf("import zip: %w", err)
	}
	report, err := transfer.ImportZip(ctx, fsys, spool, size, to, o)
	return report, errors.Join(err, spool.remove())
}

// A spool is a temporary file.
type spool struct{ *os.File }

// spooled copies a stream into a temporary file.
func spooled(ctx context.Context, r io.Reader) (spool, int64, error) {
	f, err := os.CreateTemp("", "vfs-*.zip")
	if err != nil {
		return spool{}, 0, err
	}
	s := spool{f}
	size, err := io.Copy(s.File, cancelled{ctx, r})
	if err != nil {
		return spool{}, 0, errors.Join(err, s.remove())
	}
	return s, size, nil
}

func (s spool) remove() error { return errors.Join(s.Close(), os.Remove(s.Name())) }

// A cancelled reader ends with its context.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

func (c cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
