package exchange

import (
	"archive/tar"
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"vfsdb/archive"
	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/transfer"
)

// otherArchives are endings of archives and packed files that cannot be written here. A directory is hardly meant by
// such a name.
var otherArchives = []string{
	".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tbz", ".tar.lz4", ".tar.br", ".tar.lzma", ".7z", ".rar", ".jar",
	".gz", ".zst", ".xz", ".bz2", ".cpio", ".iso",
}

// formatFlag adds the flag --format, which says what an archive is whatever its name says.
func formatFlag(cmd *cobra.Command, f *archive.Format, usage string) {
	cmd.Flags().Var((*formatValue)(f), "format", usage)
	_ = cmd.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var names []cobra.Completion
		for _, f := range archive.Formats() {
			names = append(names, string(f))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// A formatValue is the value of --format.
type formatValue archive.Format

func (v *formatValue) String() string { return string(*v) }
func (v *formatValue) Type() string   { return "FORMAT" }

func (v *formatValue) Set(text string) error {
	f, err := archive.Parse(text)
	*v = formatValue(f)
	return err
}

// formatOf returns the format that the name of a destination chooses, "" for a directory. The ending of an archive that
// cannot be written is an error.
func formatOf(cmd *cobra.Command, name string) (archive.Format, error) {
	if f := archive.FormatOf(name); f != "" {
		return f, nil
	}
	lower := strings.ToLower(name)
	for _, ending := range otherArchives {
		if strings.HasSuffix(lower, ending) {
			return "", cli.Usage(cmd, "%s is no archive that can be written: there are .tar, .tar.gz, .tar.zst and .zip; "+
				"a directory of that name has to exist already", name)
		}
	}
	return "", nil
}

// importFile takes in an archive of the host.
func (im *importer) importFile(f *os.File, to string) (*transfer.Report, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		r := cli.Interruptible(im, f)
		defer r.Close()
		return archive.Import(im, im.FS, r, to, im.format, &im.o)
	}

	as := im.format
	if as == "" {
		start := make([]byte, archive.StartSize)
		n, _ := f.ReadAt(start, 0)
		found, err := archive.Detect(start[:n])
		if err != nil {
			return nil, err
		}
		switch name := archive.FormatOf(f.Name()); {
		case found == "" && name == archive.Zip: // which may begin with anything
			as = name
		case found != "" && name != "" && found != name:
			im.Warn("%s is a %s, whatever its name says", f.Name(), found)
		}
	}
	return archive.Import(im, im.FS, f, to, as, &im.o)
}

// notArchive explains an error of a source that is no archive, or not a whole one.
func notArchive(src string, err error) error {
	var refused *transfer.RefusedError
	switch {
	case err == nil, errors.As(err, &refused):
		return err
	case errors.Is(err, tar.ErrHeader), errors.Is(err, zip.ErrFormat), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w: it is no whole archive: no tar, in gzip, zstd or plain, and no zip (put stores a single file)", src, err)
	}
	return fmt.Errorf("%s: %w", src, err)
}
