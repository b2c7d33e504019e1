package care

import (
	"cmp"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/purge"
	"vfsdb/vfs"
)

func purgeCommand(a *cli.App) *cobra.Command {
	var o purge.Options
	var everywhere, yes, copies, keep bool
	cmd := &cobra.Command{
		Use:   "purge [PATH...] --everywhere {--dry-run | --yes}",
		Short: "Remove files from all of history, and from the raw file",
		Long: `Remove files as if they had never been there: from all branches, snapshots and past moments, for a secret that was
written by mistake. It cannot be undone.

A PATH names every file that it led to in any branch at any time, with all names and versions of that file, also one that was
moved away, or removed and collected. A symlink is purged itself, not the file that it points to. --recursive takes a PATH that
was a directory for all files that were ever in it. The log keeps the names, loses the sums of the
contents and the command lines of the calls that wrote them, and says that the PATH was purged, by whom and why.
Past states that no snapshot keeps go as with gc.

Other files may have the same content, or a part of it. Then purge names them and does nothing: --copies purges them too,
and --keep-copies leaves them what they have.

At the end no unused byte of the database is left as it was, and the raw file is searched for samples of what was removed.
If some are found, because other files have the same bytes, the exit code is 1. No other process may have the database
open. A purge that was cut short is finished by the next one, which needs no PATH for that; status shows it.

Backups, exports, mirrors and clones of git that were made before have the files still. Run purge on each backup,
with --db. What the host's disk keeps of overwritten blocks is beyond its reach: revoke the secret.`,
		Example: `  vfsctl purge config/.env --everywhere --dry-run
  vfsctl purge config/.env --everywhere --yes --reason "API key"
  vfsctl purge secrets --recursive --everywhere --yes --copies
  vfsctl purge --everywhere --yes
  vfsctl --db backup.db purge config/.env --everywhere --yes`,
		Args:              cli.Args(0, -1),
		ValidArgsFunction: a.CompletePaths,
	}

	cmd.RunE = a.Plain(func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(cli.Exclusive(cmd, "dry-run", "yes"), cli.Exclusive(cmd, "copies", "keep-copies")); err != nil {
			return err
		}
		switch {
		case a.Shell() != nil:
			return cli.Usage(cmd, "purge needs the database for itself, and this shell has it open: leave the shell first")
		case !everywhere:
			return cli.Usage(cmd, "purge removes from all branches, snapshots and moments: say --everywhere; rm removes from one branch")
		case !yes && !o.DryRun:
			return cli.Usage(cmd, "purge cannot be undone: --dry-run shows what would go, --yes removes it")
		case copies:
			o.Copies = purge.PurgeCopies
		case keep:
			o.Copies = purge.KeepCopies
		}

		if a.At != "" {
			return cli.Usage(cmd, "purge removes from all trees, and --at names one")
		}

		// It opens the file itself, more than once.
		if !cmd.Flags().Changed("branch") {
			a.NoBranch()
		}
		fsys, err := a.Open(cmd.Context(), cli.Reads)
		if err != nil {
			return err
		}
		if err := fsys.Close(); err != nil {
			return err
		}
		start := time.Now()
		ctx := vfs.WithCall(cmd.Context(), &vfs.Call{Began: start, Actor: cli.UserName(), Tool: cmd.CommandPath(), Command: cli.Words(cmd, args)})
		bar := a.Progress(ctx, "purge", 0)
		r, err := purge.Run(ctx, a.DB, args, &o)
		bar.End()

		if shared := (*purge.SharedError)(nil); errors.As(err, &shared) && !a.JSON {
			for _, f := range shared.Files {
				if printed := printPlaces(a, sharing, f); printed != nil {
					return printed
				}
			}
		}
		err = advisePurge(err)

		// What was found afterwards does not undo the purge.
		if found := (*purge.FoundError)(nil); err != nil && !errors.As(err, &found) {
			return err
		}
		if printed := printPurged(a, r, len(args) == 0, o.DryRun, time.Since(start)); printed != nil {
			return printed
		}
		return err
	})

	f := cmd.Flags()
	f.BoolVar(&everywhere, "everywhere", false, "remove from all branches, snapshots and moments; there is no other way")
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "only report what would go")
	f.BoolVar(&yes, "yes", false, "remove it")
	f.BoolVarP(&o.Recursive, "recursive", "r", false, "take directories for all files that were ever in them")
	f.BoolVar(&copies, "copies", false, "purge other files with the same content too")
	f.BoolVar(&keep, "keep-copies", false, "leave other files the content that they share")
	f.StringVar(&o.Reason, "reason", "", "`TEXT` for the log")
	f.SortFlags = false
	_ = cmd.RegisterFlagCompletionFunc("reason", cli.CompleteNothing)
	return cmd
}

// advisePurge adds to an error what the user can do.
func advisePurge(err error) error {
	switch {
	case errors.Is(err, syscall.EMLINK):
		return cli.Advise(err, "--copies purges such files too, and --keep-copies leaves them what they have")
	case errors.Is(err, syscall.EBUSY):
		return cli.Advise(err, "purge needs the database for itself: try again once nothing else has it open")
	}
	return err
}

// sharing begins the line of a file that has content of a purged one.
const sharing = "shares content: "

// A purgedJSON is a file of a purge as JSON shows it.
type purgedJSON struct {
	Places   []placeJSON `json:"places"`
	Versions int         `json:"versions"`
	Bytes    int64       `json:"bytes"`
}

type placeJSON struct {
	Branch   string `json:"branch"`
	Snapshot string `json:"snapshot,omitempty"`
	Path     string `json:"path"`
	Base64   string `json:"path_base64,omitempty"`
}

func newPurgedJSON(files []purge.File) []purgedJSON {
	list := make([]purgedJSON, 0, len(files))
	for _, f := range files {
		p := purgedJSON{Places: []placeJSON{}, Versions: f.Versions, Bytes: f.Bytes}
		for _, at := range f.Places {
			p.Places = append(p.Places, placeJSON{at.Branch, at.Snapshot, at.Path, human.Base64(at.Path)})
		}
		list = append(list, p)
	}
	return list
}

func printPurged(a *cli.App, r *purge.Report, bare, dry bool, took time.Duration) error {
	if a.JSON {
		return a.Out.JSON(struct {
			DryRun   bool         `json:"dry_run"`
			Files    []purgedJSON `json:"files"`
			Shared   []purgedJSON `json:"shared"`
			Changes  int64        `json:"changes"`
			Calls    int64        `json:"calls"`
			Earlier  bool         `json:"earlier"` // a purge that was cut short: finished, or with dry_run found
			Packs    int64        `json:"packs"`
			Cleared  int64        `json:"cleared_bytes"`
			Searched int64        `json:"searched_bytes"`
			Samples  int          `json:"samples"`
		}{dry, newPurgedJSON(r.Files), newPurgedJSON(r.Shared), r.Changes, r.Calls, r.Finished, r.Packs, r.Cleared, r.Searched, r.Samples})
	}

	versions, bytes := int64(0), int64(0)
	for _, f := range r.Files {
		versions, bytes = versions+int64(f.Versions), bytes+f.Bytes
		if err := printPlaces(a, "", f); err != nil {
			return err
		}
	}
	for _, f := range r.Shared {
		if err := printPlaces(a, sharing, f); err != nil {
			return err
		}
	}

	what := fmt.Sprintf("%s with %s, %s", human.Plural(int64(len(r.Files)), "file", "files"), human.Plural(versions, "version", "versions"), human.Size(bytes))
	switch {
	case dry && r.Finished && bare:
		return a.Out.Printf("an earlier purge is not finished\n")
	case dry:
		return a.Out.Printf("would purge %s\n", what)
	case len(r.Files) == 0 && !r.Finished:
		return a.Out.Printf("nothing to finish\n")
	case len(r.Files) == 0:
		return a.Out.Printf("finished an earlier purge in %s: unused bytes were overwritten; without the content there were no samples to search for\n", human.Took(took))
	}
	err := a.Out.Printf("purged %s, in %s\n", what, human.Took(took))
	if err == nil {
		err = a.Out.Printf("searched %s of the raw files for %s of the removed bytes\n", human.Size(r.Searched), human.Plural(int64(r.Samples), "sample", "samples"))
	}
	if err == nil {
		err = a.Out.Printf("backups, exports, mirrors and clones made before have them still\n")
	}
	return err
}

// placesShown bounds the places of a file that are printed; JSON has all.
const placesShown = 10

// printPlaces prints the places that show a file.
func printPlaces(a *cli.App, before string, f purge.File) error {
	if len(f.Places) == 0 {
		return a.Out.Printf("%sa file that no branch and no snapshot shows\n", before)
	}
	shown := f.Places[:min(len(f.Places), placesShown)]
	for _, at := range shown {
		if err := a.Out.Printf("%s%s\n", before, a.Out.Name(at.String())); err != nil {
			return err
		}
	}
	if more := len(f.Places) - len(shown); more > 0 {
		return a.Out.Printf("%sthe same in %s\n", before, human.Plural(int64(more), "more place", "more places"))
	}
	return nil
}
