package exchange

import (
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/merge"
	"vfsdb/transfer"
)

func exportCommand(a *cli.App) *cobra.Command {
	ex := &exporter{App: a}
	cmd := &cobra.Command{
		Use:   "export [PATH] DEST",
		Short: "Write a tree to a directory or an archive",
		Long: `Write the content of the directory PATH, by default of the root, to DEST: a directory, which is
created if it is missing, a .tar, .tar.gz, .tar.zst or .zip, or - for a tar stream on standard output.
Contents, modes, times, symlinks and hard links are kept; a zip has no hard links, and times to the second. An
archive appears whole or not at all. Files that DEST cannot hold are named, and the exit code is 3. Damage
fails the export; with --partial damaged files are named and left out, too.

Writing into a directory that is not empty takes --overwrite. While others write, export a snapshot to get one
moment. Files in conflict are refused, with the exit code 14, unless --with-conflicts is given.`,
		Example: `  vfsctl export out
  vfsctl --at before-refactor export src before.tar.gz
  vfsctl export / - | ssh host tar x`,
		Args:              cli.Args(1, 2),
		ValidArgsFunction: cli.CompleteArgs(a.CompletePaths, nil),
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			ex.Call = c
			if len(c.Args) == 1 {
				return ex.run("/", c.Args[0])
			}
			return ex.run(c.Args[0], c.Args[1])
		}),
	}

	cmd.Flags().BoolVar(&ex.o.Overwrite, "overwrite", false, "write into a directory that is not empty")
	cmd.Flags().BoolVar(&ex.o.Partial, "partial", false, "leave out damaged files")
	cmd.Flags().BoolVar(&ex.conflicts, "with-conflicts", false, "write files in conflict as the branch has them")
	cmd.Flags().BoolVar(&ex.o.Owner, "owner", false, "give files their stored owner, which needs privileges")
	return cmd
}

// An exporter is one run of export.
type exporter struct {
	*cli.App
	*cli.Call
	o         transfer.ExportOptions
	conflicts bool // files in conflict are written
}

func (ex *exporter) run(from, dest string) error {
	if err := ex.refuseConflicts(from); err != nil {
		return err
	}

	start := time.Now()
	bar := ex.Progress(ex, "export", 0)
	ex.o.Progress = func(p transfer.Progress) { bar.At(p.Bytes, "  "+human.Plural(p.Files, "file", "files")) }
	report, err := ex.write(from, dest, &ex.o)
	bar.End()
	if err != nil {
		return err
	}
	if dest == "-" && ex.JSON { // the stream is the output
		ex.Out.Flush()
		reportRefusals(ex.App, report.Refused)
		if len(report.Refused) > 0 {
			return cli.ExitPartly
		}
		return nil
	}
	return reportMoved(ex.App, "exported", report, time.Since(start))
}

// refuseConflict names a file in conflict, and returns the exit code.
func refuseConflict(a *cli.App, path string) error {
	a.Warn("export %s: it is in conflict: resolve it, or export what the branch has: --with-conflicts", path)
	return cli.ExitConflict
}

// refuseConflicts refuses to export files in conflict, since what is exported does not show that they are.
func (ex *exporter) refuseConflicts(from string) error {
	if ex.conflicts {
		return nil
	}
	list, err := merge.Conflicts(ex, ex.FS)
	if err != nil {
		return err
	}
	top := cli.Rooted(from)
	var refused error
	for _, c := range list {
		if top == "." || c.Path == top || strings.HasPrefix(c.Path, top+"/") {
			refused = refuseConflict(ex.App, c.Path)
		}
	}
	return refused
}

// write writes the tree below from to a directory, an archive or standard output.
func (ex *exporter) write(from, dest string, o *transfer.ExportOptions) (report *transfer.Report, err error) {
	if dest == "-" {
		return transfer.ExportTar(ex, ex.FS, from, io.Writer(ex.Out), o)
	}
	if info, err := os.Stat(dest); err == nil && info.IsDir() {
		return transfer.ExportDir(ex, ex.FS, from, dest, o)
	}

	as, err := formatOf(ex.Cmd, dest)
	if err != nil {
		return nil, err
	}
	if as == formatNone {
		return transfer.ExportDir(ex, ex.FS, from, dest, o)
	}

	err = ex.ReplaceHost(dest, func(part *os.File) error {
		if err := part.Chmod(0o644); err != nil {
			return err
		}
		report, err = ex.exportArchive(as, from, part, o)
		return err
	})
	return report, err
}
