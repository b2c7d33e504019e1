package exchange

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/transfer"
)

// A format is a format of archives.
type format string

const (
	formatNone format = "" // a directory
	formatTar  format = "tar"
	formatGzip format = "tar.gz"
	formatZstd format = "tar.zst"
	formatZip  format = "zip"
)

// formats are the endings of names that choose a format.
var formats = map[string]format{
	".tar": formatTar, ".tar.gz": formatGzip, ".tgz": formatGzip, ".tar.zst": formatZstd, ".tzst": formatZstd, ".zip": formatZip,
}

// otherArchives are endings of archives and packed files that cannot be written here. A directory is hardly meant by
// such a name.
var otherArchives = []string{
	".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tbz", ".tar.lz4", ".tar.br", ".tar.lzma", ".7z", ".rar", ".jar",
	".gz", ".zst", ".xz", ".bz2", ".cpio", ".iso",
}

// formatOf returns the format that the name of a destination chooses. The ending of an archive that cannot be written
// is an error.
func formatOf(cmd *cobra.Command, name string) (format, error) {
	lower := strings.ToLower(name)
	for ending, f := range formats {
		if strings.HasSuffix(lower, ending) {
			return f, nil
		}
	}
	for _, ending := range otherArchives {
		if strings.HasSuffix(lower, ending) {
			return "", cli.Usage(cmd, "%s is no archive that can be written: there are .tar, .tar.gz, .tar.zst and .zip; "+
				"a directory of that name has to exist already", name)
		}
	}
	return formatNone, nil
}

// exportArchive writes a tree in a format.
func (ex *exporter) exportArchive(f format, from string, w io.Writer, o *transfer.ExportOptions) (*transfer.Report, error) {
	if f == formatZip {
		return transfer.ExportZip(ex, ex.FS, from, w, o)
	}

	var packed io.WriteCloser
	switch f {
	case formatGzip:
		packed = gzip.NewWriter(w)
	case formatZstd:
		enc, err := zstd.NewWriter(w)
		if err != nil {
			return nil, err
		}
		packed = enc
	default:
		return transfer.ExportTar(ex, ex.FS, from, w, o)
	}
	report, err := transfer.ExportTar(ex, ex.FS, from, packed, o)
	return report, errors.Join(err, packed.Close())
}

// importStream takes in a tar stream, which may be packed.
func (im *importer) importStream(r io.Reader, to string) (*transfer.Report, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	start, _ := b.Peek(4)

	switch f := packedIn(start); f {
	case formatGzip:
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return transfer.ImportTar(im, im.FS, z, to, &im.o)
	case formatZstd:
		// A frame may ask for a window of any size, so it is bounded.
		z, err := zstd.NewReader(b, zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return transfer.ImportTar(im, im.FS, z, to, &im.o)
	case formatZip:
		return nil, errors.New("a zip can only be read from a file: its list of names is at its end")
	}
	return transfer.ImportTar(im, im.FS, b, to, &im.o)
}

// packedIn recognises a format by its first bytes. A tar has no such bytes, so all other streams count as tar.
func packedIn(start []byte) format {
	switch {
	case bytes.HasPrefix(start, []byte{0x1f, 0x8b}):
		return formatGzip
	case bytes.HasPrefix(start, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return formatZstd
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("PK\x05\x06")):
		return formatZip
	}
	return formatTar
}

// importFile takes in an archive of the host.
func (im *importer) importFile(f *os.File, to string) (*transfer.Report, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	start := make([]byte, 4)
	if n, _ := f.ReadAt(start, 0); info.Mode().IsRegular() && packedIn(start[:n]) == formatZip {
		return transfer.ImportZip(im, im.FS, f, info.Size(), to, &im.o)
	}
	r := cli.Interruptible(im, f)
	defer r.Close()
	return im.importStream(r, to)
}

// notArchive explains an error of a source that is no archive, or not a whole one.
func notArchive(src string, err error) error {
	var refused *transfer.RefusedError
	switch {
	case err == nil, errors.As(err, &refused):
		return err
	case errors.Is(err, tar.ErrHeader), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w: it is no whole archive: no tar, in gzip, zstd or plain, and no zip (put stores a single file)", src, err)
	}
	return fmt.Errorf("%s: %w", src, err)
}
