package exchange

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"vfsdb/apply"
	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/history"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/snapshot"
)

func applyCommand(a *cli.App) *cobra.Command {
	ap := &applier{App: a}
	cmd := &cobra.Command{
		Use:   "apply BRANCH DIR",
		Short: "Bring the changes of a branch into a directory",
		Long: `Write what BRANCH has changed since its base into the directory DIR, and nothing else. DIR may have changed
too: texts that both changed are merged by line. What conflicts stays as DIR has it and is listed with the letter
C, and the exit code is 14; the rest is applied. So a file that the base does not have, such as one that an import
has left out, is never removed or replaced.

The base is what DIR was when BRANCH began. It is what --base names; or else what the last complete apply of BRANCH
to DIR brought; or the snapshot that run --base has left; or the moment at which BRANCH was forked. A wrong base
makes conflicts, and overwrites nothing.

Changes have the letters of diff. --dry-run prints them as a patch, which git apply takes, and changes nothing. Binary
files are named in it; directories, times and devices are not.

Each file is written under another name and renamed, if DIR still has what was seen there. An apply that was
interrupted, at any moment, is run again, and does the rest. No symlink leads out of DIR. Owners are set if root runs it.`,
		Example: `  vfsctl run --base . --new try -- make fmt
  vfsctl apply try . --dry-run
  vfsctl apply try .
  vfsctl apply main ~/project --base imported`,
		Args:              cli.Args(2, 2),
		ValidArgsFunction: cli.CompleteArgs(a.CompleteBranches, nil),
		RunE: a.OnStore(cli.Writes, func(c *cli.Call) error {
			ap.Call = c
			return ap.run(c.Args[0], c.Args[1])
		}),
	}

	cmd.Flags().StringVar(&ap.base, "base", "", "the `SNAPSHOT` or branch that DIR was when BRANCH began")
	cmd.Flags().BoolVar(&ap.o.DryRun, "dry-run", false, "only print what would change, as a patch")
	_ = cmd.RegisterFlagCompletionFunc("base", a.CompleteTrees)
	return cmd
}

// An applier is one run of apply.
type applier struct {
	*cli.App
	*cli.Call
	base string
	o    apply.Options
}

func (ap *applier) run(branch, dir string) error {
	source, err := ap.Tree(ap, ap.FS, branch)
	if err != nil {
		return err
	}
	if ap.base != "" {
		if ap.o.Base, err = ap.Tree(ap, ap.FS, ap.base); err != nil {
			return err
		}
	}
	r, err := apply.To(ap, source, dir, &ap.o)
	if none := new(apply.NoBaseError); errors.As(err, &none) {
		return fmt.Errorf("%w: --base names a snapshot or branch of that, such as one made after the import", err)
	}
	if err != nil {
		return err
	}
	if err := ap.print(branch, dir, r); err != nil {
		return err
	}

	for _, c := range slices.Concat(r.Conflicts, r.Refused) {
		ap.Warn("%s: %s", c.Path, c.Why)
	}
	switch {
	case len(r.Conflicts) > 0:
		return cli.ExitConflict
	case len(r.Refused) > 0:
		return cli.ExitPartly
	}
	return nil
}

// print prints the result: the patch of a dry run, else a line for each path.
func (ap *applier) print(branch, dir string, r *apply.Result) error {
	if ap.JSON {
		return ap.Out.JSON(newApplyJSON(branch, dir, ap.o.DryRun, r))
	}
	if ap.o.DryRun {
		if _, err := ap.Out.Write(r.Patch); err != nil {
			return err
		}
	} else {
		for _, c := range r.Changes {
			if err := ap.Out.Line(changeLine(ap.Out, c)); err != nil {
				return err
			}
		}
		for _, c := range r.Conflicts {
			if err := ap.Out.Line(history.ConflictLine(ap.Out, c.Path)); err != nil {
				return err
			}
		}
	}

	verb := "applied"
	if ap.o.DryRun {
		verb = "would apply"
	}
	return ap.Errs.Printf("%s %s, with %s; the base is %s\n", verb, human.Plural(int64(len(r.Changes)), "change", "changes"),
		human.Plural(int64(len(r.Conflicts)), "conflict", "conflicts"), r.Base)
}

// changeLine returns the line of a change, as diff has it.
func changeLine(o *term.Output, c apply.Change) string {
	if c.Kind != snapshot.Renamed {
		return history.Line(o, c.Kind, c.Path, c.Dir)
	}
	to := o.Name(c.Path)
	if c.Dir {
		to += "/"
	}
	return history.Line(o, c.Kind, c.From, c.Dir) + " -> " + to
}

// An applyJSON is the result of an apply as JSON shows it.
type applyJSON struct {
	Branch    string        `json:"branch"`
	Dir       string        `json:"directory"`
	Base      string        `json:"base"`
	DryRun    bool          `json:"dry_run,omitempty"`
	Changes   []appliedJSON `json:"changes"`
	Conflicts []refusalJSON `json:"conflicts"`
	Refused   []refusalJSON `json:"refused"`
	Recorded  string        `json:"recorded,omitempty"`
	Patch     string        `json:"patch,omitempty"`
	Base64    string        `json:"patch_base64,omitempty"` // if it is not UTF-8
}

// An appliedJSON is a path that was changed.
type appliedJSON struct {
	plannedJSON
	From       string `json:"from,omitempty"`
	FromBase64 string `json:"from_base64,omitempty"`
}

func newApplyJSON(branch, dir string, dry bool, r *apply.Result) applyJSON {
	out := applyJSON{
		Branch: branch, Dir: dir, Base: r.Base, DryRun: dry, Recorded: r.Recorded,
		Changes: []appliedJSON{}, Conflicts: leftJSON(r.Conflicts), Refused: leftJSON(r.Refused),
	}
	for _, c := range r.Changes {
		planned := plannedJSON{string(c.Kind), c.Path, human.Base64(c.Path), c.Dir}
		out.Changes = append(out.Changes, appliedJSON{planned, c.From, human.Base64(c.From)})
	}
	if utf8.Valid(r.Patch) {
		out.Patch = string(r.Patch)
	} else {
		out.Base64 = base64.StdEncoding.EncodeToString(r.Patch)
	}
	return out
}

func leftJSON(list []apply.Conflict) []refusalJSON {
	out := []refusalJSON{}
	for _, c := range list {
		out = append(out, refusalJSON{c.Path, human.Base64(c.Path), c.Why})
	}
	return out
}
