package exchange

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/transfer"
)

func importCommand(a *cli.App) *cobra.Command {
	im := &importer{App: a}
	cmd := &cobra.Command{
		Use:   "import SRC [PATH]",
		Short: "Take in a directory or an archive",
		Long: `Take in the content of SRC: a directory, a tar, plain or packed by gzip or zstd, a zip, or - for a
tar stream on standard input. It goes into the directory PATH, by default the root. Files of the same name are
replaced, and others stay. Contents, modes, times, symlinks and hard links are kept; extended attributes are
not, and are named. The database itself is left out.

A directory may be imported again and again: files are read only if their size or their modification time, to
the nanosecond, have changed. --checksum reads them all, in case times were set back. Files that are gone from
SRC stay.

An import happens whole or not at all: after an interrupt, or a file that cannot be read, none of its files
are there. The contents that it has read stay in a database that existed before, until the next import uses
them or gc removes them. With --partial the import keeps what it can read, as it comes, and names the rest
(exit code 3).

If the database does not exist, it is created.`,
		Example: `  vfsctl import .
  vfsctl import --gitignore --exclude '*.log' ~/project /project
  curl -L https://example.org/src.tar.gz | vfsctl import - /src`,
		Args:              cli.Args(1, 2),
		ValidArgsFunction: cli.CompleteArgs(nil, a.CompletePaths),
		RunE: a.WithSource(func(*cobra.Command) error { return nil }, a.On(cli.Creates, func(c *cli.Call) error {
			im.Call = c
			return im.run(c.Args[0], c.Arg(1, "/"))
		})),
	}

	cmd.Flags().StringArrayVar(&im.o.Exclude, "exclude", nil, "leave out files that match `GLOB`; may be repeated")
	cmd.Flags().BoolVar(&im.o.GitIgnore, "gitignore", false, "leave out .git, and all that .gitignore files name")
	cmd.Flags().BoolVar(&im.o.Checksum, "checksum", false, "read all files, also those with an unchanged size and time")
	cmd.Flags().BoolVar(&im.o.Partial, "partial", false, "keep the files that can be read, as they come")
	return cmd
}

// An importer is one run of import.
type importer struct {
	*cli.App
	*cli.Call
	o transfer.ImportOptions
}

func (im *importer) run(src, to string) error {
	start := time.Now()
	bar := im.Progress(im, "import", 0)
	im.o.Progress = func(p transfer.Progress) {
		bar.At(p.Bytes, "  "+human.Plural(p.Files, "file", "files"))
	}
	report, err := im.read(src, to)
	bar.End()

	var refused *transfer.RefusedError
	if errors.As(err, &refused) {
		reportRefusals(im.App, refused.Refused)
		im.Warn("nothing was imported; --partial keeps the rest, --exclude leaves files out")
		im.leftover()
		return cli.ExitFailed
	}
	if err != nil {
		im.leftover()
		return err
	}
	return reportMoved(im.App, "imported", report, time.Since(start))
}

// leftover warns of contents that a failed import has stored, and that no file has. They take up space until another
// import uses them or gc removes them. A database that the import has created is removed with them.
func (im *importer) leftover() {
	if !im.Creating() && !im.o.Partial {
		im.Warn("what was read until then takes up space until it is imported again, or until: %s", im.Invoke("gc"))
	}
}

// read takes in the source: a directory, an archive or standard input.
func (im *importer) read(src, to string) (*transfer.Report, error) {
	if src == "-" {
		r := cli.Interruptible(im, im.In)
		defer r.Close()
		report, err := im.importStream(r, to)
		return report, notArchive("standard input", err)
	}

	info, err := os.Stat(src)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return transfer.ImportDir(im, im.FS, src, to, &im.o)
	}

	f, err := im.OpenHost(src)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	report, err := im.importFile(f, to)
	return report, notArchive(src, err)
}

// reportMoved reports the files that went in or out, and those that did not.
func reportMoved(a *cli.App, verb string, r *transfer.Report, d time.Duration) error {
	var err error
	if a.JSON {
		err = a.Out.JSON(newTransferJSON(r))
	} else {
		err = a.Errs.Printf("%s %s in %s\n", verb, Contents(r), human.Took(d))
	}
	if err == nil && len(r.Xattrs) > 0 {
		a.Warn("extended attributes are not kept: %s", xattrs(r))
	}
	if err != nil || len(r.Refused) == 0 {
		return err
	}
	reportRefusals(a, r.Refused)
	return cli.ExitPartly
}

// reportRefusals names the files that were left out.
func reportRefusals(a *cli.App, list []transfer.Refusal) {
	for _, r := range list {
		a.Warn("%s: %s", r.Path, r.Why)
	}
}

// xattrs lists the extended attributes that were not kept.
func xattrs(r *transfer.Report) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(r.Xattrs)) {
		list = append(list, fmt.Sprintf("%s of %s", name, human.Plural(r.Xattrs[name], "file", "files")))
	}
	return strings.Join(list, ", ")
}

// Contents counts the files that a transfer moved.
func Contents(r *transfer.Report) string {
	s := fmt.Sprintf("%s, %s", human.Plural(r.Files, "file", "files"), human.Plural(r.Dirs, "directory", "directories"))
	if r.Links > 0 {
		s += ", " + human.Plural(r.Links, "link", "links")
	}
	s += ", " + human.Size(r.Bytes)
	if r.Unread > 0 {
		s += "; " + human.Plural(r.Unread, "file", "files") + " not read again"
	}
	return s
}

// A transferJSON is the result of a transfer as JSON shows it.
type transferJSON struct {
	Files   int64         `json:"files"`
	Dirs    int64         `json:"directories"`
	Links   int64         `json:"links"`
	Bytes   int64         `json:"bytes"`
	Unread  int64         `json:"unread"`
	Refused []refusalJSON `json:"refused"`

	Xattrs map[string]int64 `json:"xattrs,omitempty"` // not kept, each with the number of files that had it
}

type refusalJSON struct {
	Path   string `json:"path"`
	Base64 string `json:"path_base64,omitempty"`
	Why    string `json:"why"`
}

func newTransferJSON(r *transfer.Report) transferJSON {
	t := transferJSON{Files: r.Files, Dirs: r.Dirs, Links: r.Links, Bytes: r.Bytes, Unread: r.Unread, Refused: []refusalJSON{}, Xattrs: r.Xattrs}
	for _, x := range r.Refused {
		t.Refused = append(t.Refused, refusalJSON{x.Path, human.Base64(x.Path), x.Why})
	}
	return t
}
