package exchange

import (
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/archive"
	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/transfer"
	"vfsdb/vfs"
)

func importCommand(a *cli.App) *cobra.Command {
	im := &importer{App: a}
	cmd := &cobra.Command{
		Use:   "import SRC [PATH]",
		Short: "Take in a directory or an archive",
		Long: `Take in the content of SRC: a directory, a tar, plain or packed by gzip or zstd, a zip, or - for one
of these archives on standard input. The first bytes of an archive tell which it is, unless --format does. A
zip on standard input is first copied into a temporary file. The content goes into the directory PATH, by
default the root. Files of the same name are replaced, and others stay, unless --delete is given. Contents,
modes, times, symlinks, hard links and extended attributes of the namespace user are kept; other attributes
are named. The database itself is left out.

A directory may be imported again and again: files are read only if their size or their modification time, to
the nanosecond, have changed. --checksum reads them all, in case times were set back. --delete removes from PATH
the files that the directory SRC does not have, also those that others put there, in the same commit. A file
then gives way to a directory of its name, and a directory to a file. --exclude and --gitignore leave out
files on both sides: they are not removed. An empty SRC empties PATH.

--dry-run changes nothing, and creates no database. It prints a line for each path that would change, with the
letters of vfsctl diff, and with --json one object with the list "plan". It reads a file only to compare its
content with one of the same size.

An import happens whole or not at all: after an interrupt, or a file that cannot be read, none of its files
are there. The contents that it has read stay in a database that existed before, until the next import uses
them or gc removes them. With --partial the import keeps what it can read, as it comes, and names the rest
(exit code 3; 1 if the source ends too early).

If there is no database here or in a directory above, it is created here. One above gets the files at its root,
or at PATH.`,
		Example: `  vfsctl import .
  vfsctl import --delete --dry-run ~/project /project
  vfsctl import --gitignore --exclude '*.log' ~/project /project
  curl -L https://example.org/src.tar.gz | vfsctl import - /src`,
		Args:              cli.Args(1, 2),
		ValidArgsFunction: cli.CompleteArgs(nil, a.CompletePaths),
		RunE: a.WithSource(im.check, func(cmd *cobra.Command, args []string) error {
			a.SayAbove()
			switch {
			case im.o.DryRun && a.Absent() && a.At == "" && (a.Branch == "" || a.Branch == vfs.MainBranch):
				return im.onScratch(cmd, args)
			case im.o.DryRun:
				return a.On(cli.Reads, im.run)(cmd, args)
			}
			return a.On(cli.Creates, im.run)(cmd, args)
		}),
	}

	cmd.Flags().StringArrayVar(&im.o.Exclude, "exclude", nil, "leave out files that match `GLOB`; may be repeated")
	cmd.Flags().BoolVar(&im.o.GitIgnore, "gitignore", false, "leave out .git, and all that .gitignore files name")
	cmd.Flags().BoolVar(&im.o.Checksum, "checksum", false, "read all files, also those with an unchanged size and time")
	cmd.Flags().BoolVar(&im.o.Delete, "delete", false, "remove names from PATH that the directory SRC does not have")
	cmd.Flags().BoolVar(&im.o.DryRun, "dry-run", false, "only print what would change")
	formatFlag(cmd, &im.format, "take SRC for an archive of `FORMAT`: tar, tar.gz, tar.zst or zip")
	cmd.Flags().BoolVar(&im.o.Partial, "partial", false, "keep the files that can be read, as they come")
	return cmd
}

// An importer is one run of import.
type importer struct {
	*cli.App
	*cli.Call
	o      transfer.ImportOptions
	format archive.Format
}

// check refuses flags that do not go together, or not with the source.
func (im *importer) check(cmd *cobra.Command) error {
	if err := cli.Exclusive(cmd, "delete", "partial"); err != nil {
		return err
	}
	src := cmd.Flags().Arg(0)
	info, err := os.Stat(src)
	switch {
	case im.format != "" && err == nil && info.IsDir():
		return cli.Usage(cmd, "--format is for an archive, and %s is a directory", src)
	case !im.o.Delete && !im.o.DryRun:
		return nil
	case src == "-" || err == nil && !info.IsDir():
		return cli.Usage(cmd, "--delete and --dry-run are for a directory, and %s is none", src)
	}
	return nil
}

// onScratch runs a dry run where there is no database: on an empty one in a temporary file.
func (im *importer) onScratch(cmd *cobra.Command, args []string) (err error) {
	f, err := os.CreateTemp("", "vfsctl-*.db")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	if err := f.Close(); err != nil {
		return err
	}

	fsys, err := vfs.Open(cmd.Context(), f.Name(), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fsys.Close()) }()
	return im.run(&cli.Call{Context: cmd.Context(), Cmd: cmd, Args: args, FS: fsys})
}

func (im *importer) run(c *cli.Call) error {
	im.Call = c
	src, to := c.Args[0], c.Arg(1, c.Dir)
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
		if im.o.DryRun {
			im.Warn("an import would change nothing")
			return cli.ExitFailed
		}
		im.Warn("nothing was imported; --partial keeps the rest, --exclude leaves files out")
		im.leftover()
		return cli.ExitFailed
	}
	if err != nil {
		if im.o.Partial && report != nil && moved(report) > 0 {
			im.Keep()
			_ = reportMoved(im.App, "imported", report, time.Since(start)) // the error of the import goes before
		}
		im.leftover()
		return err
	}
	if im.o.DryRun {
		return reportPlan(im.App, report)
	}
	return reportMoved(im.App, "imported", report, time.Since(start))
}

// leftover warns of contents that a failed import has stored, and that no file has. They take up space until another
// import uses them or gc removes them. A database that the import has created is removed with them.
func (im *importer) leftover() {
	if !im.Creating() && !im.o.Partial && !im.o.DryRun {
		im.Warn("the content that was read takes up space until it is imported again, or until: %s", im.Invoke("gc"))
	}
}

// read takes in the source: a directory, an archive or standard input.
func (im *importer) read(src, to string) (*transfer.Report, error) {
	if src == "-" {
		r := cli.Interruptible(im, im.In)
		defer r.Close()
		report, err := archive.Import(im, im.FS, r, to, im.format, &im.o)
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
