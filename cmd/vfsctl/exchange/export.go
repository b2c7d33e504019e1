package exchange

import (
	"cmp"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/archive"
	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/history"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/merge"
	"vfsdb/snapshot"
	"vfsdb/transfer"
)

func exportCommand(a *cli.App) *cobra.Command {
	ex := &exporter{App: a}
	cmd := &cobra.Command{
		Use:   "export [PATH] DEST",
		Short: "Write a tree to a directory or an archive",
		Long: `Write the content of the directory PATH, by default of the root, to DEST: a directory, which is
created if it is missing, a .tar, .tar.gz, .tar.zst or .zip, or - for standard output, as a tar or as --format says.
Contents, modes, times, symlinks and hard links are kept; a zip has no hard links, and times to the second. An
archive appears whole or not at all. Files that DEST cannot hold are named, and the exit code is 3. Damage
fails the export; with --partial damaged files are named and left out, too.

With --since REF, only what REF does not have, or has otherwise, goes out, with the directories that lead to it. A
time alone is no difference. An archive cannot say what was removed since, and a directory keeps it: those paths are
listed, with the letter D. vfsctl apply removes them from a directory.

Writing into a directory that is not empty takes --overwrite. While others write, export a snapshot to get one
moment. Files in conflict are refused, with the exit code 14, unless --with-conflicts is given.`,
		Example: `  vfsctl export out
  vfsctl --at before-refactor export src before.tar.gz
  vfsctl export --since before-refactor changes.zip
  vfsctl export / - | ssh host tar x`,
		Args: cli.Args(1, 2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 || cmd.Flags().NArg() == 1 { // DEST
				return nil, cobra.ShellCompDirectiveDefault
			}
			return a.CompletePaths(cmd, args, typed)
		},
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			ex.Call = c
			if len(c.Args) == 1 {
				ex.warnOfSnapshot(c.Args[0])
				return ex.run(c.Dir, c.Args[0])
			}
			return ex.run(c.Args[0], c.Args[1])
		}),
	}

	formatFlag(cmd, &ex.format, "write an archive of `FORMAT`, whatever its name: tar, tar.gz, tar.zst or zip")
	cmd.Flags().StringVar(&ex.since, "since", "", "write only what `REF` does not have, or has otherwise")
	_ = cmd.RegisterFlagCompletionFunc("since", a.CompleteTrees)
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
	format    archive.Format
	since     string
}

// warnOfSnapshot warns if a destination does not exist, and has the name of a snapshot: the user may have meant that.
func (ex *exporter) warnOfSnapshot(dest string) {
	if _, err := os.Lstat(dest); err == nil {
		return
	}
	if _, err := snapshot.Open(ex, ex.FS, dest); err == nil {
		ex.Warn("export writes the present tree to a new %s, which is a snapshot too: %s writes that", dest, ex.Invoke("--at", dest, "export", "DEST"))
	}
}

func (ex *exporter) run(from, dest string) error {
	if err := ex.refuseConflicts(from); err != nil {
		return err
	}

	if ex.since != "" {
		var err error
		if ex.o.Since, err = ex.Tree(ex, ex.FS, ex.since); err != nil {
			return err
		}
	}

	start := time.Now()
	bar := ex.Progress(ex, "export", 0)
	ex.o.Progress = func(p transfer.Progress) { bar.At(p.Bytes, "  "+human.Plural(p.Files, "file", "files")) }
	report, err := ex.write(from, dest, &ex.o)
	bar.End()
	if err != nil {
		return err
	}
	for _, name := range report.Removed {
		if ex.JSON && dest != "-" {
			break // in the report
		}
		if err := ex.Errs.Line(history.Line(ex.Errs, snapshot.Removed, name, false)); err != nil {
			return err
		}
	}
	if ex.since != "" && !ex.JSON && moved(report) == 0 && len(report.Removed) == 0 {
		if err := ex.Errs.Line("nothing differs from " + ex.since); err != nil {
			return err
		}
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
	as := ex.format
	if dest == "-" {
		return archive.Export(ex, ex.FS, from, ex.Out, cmp.Or(as, archive.Tar), o)
	}
	if info, err := os.Stat(dest); err == nil && info.IsDir() {
		if as != "" {
			return nil, cli.Usage(ex.Cmd, "--format is for an archive, and %s is a directory", dest)
		}
		return transfer.ExportDir(ex, ex.FS, from, dest, o)
	}

	if as == "" {
		if as, err = formatOf(ex.Cmd, dest); err != nil {
			return nil, err
		}
	}
	if as == "" {
		return transfer.ExportDir(ex, ex.FS, from, dest, o)
	}

	err = ex.ReplaceHost(dest, 0o666, func(part *os.File) error {
		report, err = archive.Export(ex, ex.FS, from, part, as, o)
		return err
	})
	return report, err
}
