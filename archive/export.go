package archive

import (
	"context"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"vfsdb/transfer"
	"vfsdb/vfs"
)

// Export writes the contents of the directory from of the store as an archive. See [transfer.ExportTar] and
// [transfer.ExportZip]. An unknown format is EINVAL.
func Export(ctx context.Context, fsys *vfs.FS, from string, w io.Writer, f Format, o *transfer.ExportOptions) (*transfer.Report, error) {
	switch f {
	case Tar:
		return transfer.ExportTar(ctx, fsys, from, w, o)
	case Zip:
		return transfer.ExportZip(ctx, fsys, from, w, o)
	}

	packed, err := pack(w, f)
	if err != nil {
		return nil, err
	}
	report, err := transfer.ExportTar(ctx, fsys, from, packed, o)
	if closeErr := packed.Close(); err == nil && closeErr != nil {
		return nil, fmt.Errorf("export %s of %s: %w", f, from, closeErr)
	}
	return report, err
}

// pack returns a writer that compresses a tar. What it writes depends on nothing but the tar.
func pack(w io.Writer, f Format) (io.WriteCloser, error) {
	switch f {
	case TarGz:
		z := gzip.NewWriter(w)
		z.ModTime = time.Unix(0, 0) // no time
		return z, nil
	case TarZst:
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(2)) // not as many as there are cores
	}
	return nil, fmt.Errorf("export: %q is no format of archives: %w", f, syscall.EINVAL)
}
