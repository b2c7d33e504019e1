package main

import (
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/transfer"
)

func exportCommand(a *app) *cobra.Command {
	ex := &exporter{app: a}
	cmd := &cobra.Command{
		Use:   "export [PATH] DEST",
		Short: "Write a tree to a directory or an archive",
		Long: `Write what is inside PATH, the root if that is left out, to DEST: a directory, which is made if it is
missing, a .tar, .tar.gz, .tar.zst or .zip, or - for a tar stream on standard output. Contents, modes, times, symlinks
and hard links are kept; a zip has no hard links, and times to the second. An archive appears whole or not at all. What DEST cannot hold is named, and the
exit code is 3. What is damaged fails the export; with --partial it is named and left out, too.

A directory that is not empty is left alone, unless --overwrite says to write into it.
While others write, export a snapshot to get one moment.`,
		Example: `  vfsctl export out
  vfsctl --at before-refactor export src before.tar.gz
  vfsctl export / - | ssh host tar x`,
		Args:              args(1, 2),
		ValidArgsFunction: completeArgs(a.completePaths, nil),
		RunE: a.on(reads, func(c *call) error {
			ex.call = c
			if len(c.args) == 1 {
				return ex.run("/", c.args[0])
			}
			return ex.run(c.args[0], c.args[1])
		}),
	}
	cmd.Flags().BoolVar(&ex.o.Overwrite, "overwrite", false, "write into a directory that is not empty")
	cmd.Flags().BoolVar(&ex.o.Partial, "partial", false, "leave out what is damaged")
	cmd.Flags().BoolVar(&ex.o.Owner, "owner", false, "give files their stored owner, which takes rights")
	return cmd
}

// An exporter is one run of export.
type exporter struct {
	*app
	*call
	o transfer.ExportOptions
}

func (ex *exporter) run(from, dest string) error {
	start := time.Now()
	bar := ex.progress(ex, "export", 0)
	ex.o.Progress = func(p transfer.Progress) { bar.at(p.Bytes, "  "+plural(p.Files, "file", "files")) }
	report, err := ex.write(from, dest, &ex.o)
	bar.end()
	if err != nil {
		return err
	}
	if dest == "-" && ex.json { // the stream is the output
		ex.out.Flush()
		ex.refusals(report.Refused)
		if len(report.Refused) > 0 {
			return exitPartly
		}
		return nil
	}
	return ex.moved("exported", report, time.Since(start))
}

func (ex *exporter) write(from, dest string, o *transfer.ExportOptions) (report *transfer.Report, err error) {
	if dest == "-" {
		return transfer.ExportTar(ex, ex.fsys, from, io.Writer(ex.out), o)
	}
	if info, err := os.Stat(dest); err == nil && info.IsDir() {
		return transfer.ExportDir(ex, ex.fsys, from, dest, o)
	}
	as, err := formatOf(ex.cmd, dest)
	if err != nil {
		return nil, err
	}
	if as == formatNone {
		return transfer.ExportDir(ex, ex.fsys, from, dest, o)
	}
	err = ex.replaceHost(dest, func(part *os.File) error {
		if err := part.Chmod(0o644); err != nil {
			return err
		}
		report, err = ex.exportArchive(as, from, part, o)
		return err
	})
	return report, err
}
