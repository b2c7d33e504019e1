package history

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/snapshot"
)

func snapshotPrune(a *cli.App) *cobra.Command {
	var o snapshot.PruneOptions
	var keep snapshot.Policy
	var automatic bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Forget the snapshots that no rule keeps",
		Long: `Forget the snapshots of a branch that no --keep flag keeps. Each flag is applied by itself, and a snapshot
stays if one of them keeps it. --keep-daily 7 keeps the newest snapshot of each of the last 7 days that have one;
hours, weeks, months and years are counted likewise, in the local time zone. A flag that does not use up its
number keeps the oldest snapshot too. N is a number or "unlimited". SPAN is like 1y6m14d12h: years, months,
days and hours before the newest snapshot. There are no tags: --keep-note looks into notes.

Snapshots that restores, merges and sessions left have a rule of their own, and do not count for the flags: of
each branch the newest 100 of them stay, and those of the 30 days before the newest one. --automatic prunes
only these, and then the --keep flags, if there are any, replace their rule.

Snapshots that a later apply begins with always stay, and so does the newest commit of a git import. If the
flags keep nothing, nothing is forgotten. gc frees content that nothing else keeps.`,
		Example: `  vfsctl snapshot prune --keep-last 10 --keep-daily 7 --keep-weekly 5 --dry-run
  vfsctl snapshot prune --all --keep-within 30d --keep-note release
  vfsctl snapshot prune --all --automatic && vfsctl gc
  vfsctl snapshot prune --keep-monthly 12 --json | jq -r '.dropped[].name'`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cli.CompleteNothing,
	}

	// A database that is only read is enough for a dry run, and the branch of $VFS_BRANCH does not matter with --all.
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cli.Exclusive(cmd, "all", "branch"); err != nil {
			return err
		}
		kept := false
		for _, name := range keepFlags {
			kept = kept || cmd.Flags().Changed(name)
		}
		if !kept && !automatic {
			return cli.Usage(cmd, "prune needs a --keep flag, or --automatic")
		}
		if kept && keep.Empty() {
			return cli.Usage(cmd, "the --keep flags keep nothing: snapshot delete forgets all that it names")
		}
		o.Policy = keep
		if automatic {
			o.Policy, o.Automatic = snapshot.Policy{}, keep
		}

		use, on := cli.Writes, a.On
		if o.DryRun {
			use = cli.Reads
		}
		if o.All {
			on = a.OnStore
		}
		return on(use, func(c *cli.Call) error {
			pruned, err := snapshot.Prune(c, c.FS, &o)
			if err != nil {
				return err
			}
			return printPruned(a, pruned, o.DryRun)
		})(cmd, args)
	}

	f := cmd.Flags()
	f.Var((*keepCount)(&keep.Last), "keep-last", "keep the newest `N`")
	f.Var((*keepCount)(&keep.Hourly), "keep-hourly", "keep the newest of each of the last `N` hours that have one")
	f.Var((*keepCount)(&keep.Daily), "keep-daily", "and of the last `N` days")
	f.Var((*keepCount)(&keep.Weekly), "keep-weekly", "and of the last `N` weeks")
	f.Var((*keepCount)(&keep.Monthly), "keep-monthly", "and of the last `N` months")
	f.Var((*keepCount)(&keep.Yearly), "keep-yearly", "and of the last `N` years")
	f.Var((*keepSpan)(&keep.Within), "keep-within", "keep those made within `SPAN` before the newest, like 30d")
	f.StringArrayVar(&keep.Notes, "keep-note", nil, "keep those whose note contains `TEXT`; may be repeated")
	f.Var(noTags{}, "keep-tag", "")
	f.BoolVar(&automatic, "automatic", false, "prune only snapshots that nobody asked for")
	f.BoolVar(&o.All, "all", false, "prune all branches, each by itself")
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "print the result, and forget nothing")
	f.SortFlags = false
	_ = f.MarkHidden("keep-tag")
	for _, name := range keepFlags {
		_ = cmd.RegisterFlagCompletionFunc(name, cli.CompleteNothing)
	}
	return cmd
}

var keepFlags = []string{
	"keep-last", "keep-hourly", "keep-daily", "keep-weekly", "keep-monthly", "keep-yearly", "keep-within", "keep-note",
}

// A keepCount is the number of a --keep flag. A negative one is unlimited.
type keepCount int

const unlimited = "unlimited"

// Set reads a number, or the word for no bound.
func (k *keepCount) Set(text string) error {
	if text == unlimited {
		*k = -1
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return fmt.Errorf(`%q is neither a number nor "unlimited"`, text)
	}
	*k = keepCount(n)
	return nil
}

// String writes it as Set reads it.
func (k *keepCount) String() string {
	switch {
	case *k < 0:
		return unlimited
	case *k == 0:
		return "" // help shows no default
	}
	return strconv.Itoa(int(*k))
}

// Type is the kind of value for help, which has names of its own.
func (k *keepCount) Type() string { return "N" }

// A keepSpan is the span of --keep-within.
type keepSpan snapshot.Span

// Set reads a span.
func (k *keepSpan) Set(text string) error {
	s, err := snapshot.ParseSpan(text)
	*k = keepSpan(s)
	return err
}

// String writes it as Set reads it.
func (k *keepSpan) String() string { return snapshot.Span(*k).String() }

// Type is the kind of value for help, which has names of its own.
func (k *keepSpan) Type() string { return "SPAN" }

// noTags is the flag --keep-tag of restic, which names the one that does its work here.
type noTags struct{}

// Set refuses any tag.
func (noTags) Set(string) error {
	return errors.New("snapshots have no tags; --keep-note TEXT keeps those whose note contains TEXT")
}

// String is the default.
func (noTags) String() string { return "" }

// Type is the kind of value.
func (noTags) Type() string { return "TAG" }

// A keptJSON is a snapshot that stays as JSON shows it.
type keptJSON struct {
	snapshotJSON
	Reasons []string `json:"reasons"`
}

func printPruned(a *cli.App, p *snapshot.Pruned, dry bool) error {
	if a.JSON {
		kept, dropped := make([]keptJSON, len(p.Kept)), make([]snapshotJSON, len(p.Dropped))
		for i, s := range p.Kept {
			kept[i] = keptJSON{newSnapshotJSON(s.Info), s.Reasons}
		}
		for i, s := range p.Dropped {
			dropped[i] = newSnapshotJSON(s)
		}
		return a.Out.JSON(struct {
			DryRun  bool           `json:"dry_run"`
			Kept    []keptJSON     `json:"kept"`
			Dropped []snapshotJSON `json:"dropped"`
		}{dry, kept, dropped})
	}

	// Both kinds in one list, oldest first.
	all := slices.Clone(p.Kept)
	for _, s := range p.Dropped {
		all = append(all, snapshot.Kept{Info: s})
	}
	slices.SortFunc(all, func(x, y snapshot.Kept) int { return cmp.Compare(x.ID, y.ID) })

	var t term.Table
	t.Head("", "NAME", "BRANCH", "CREATED", "KEPT BY")
	for _, s := range all {
		what, style := "keep", term.Bold
		if len(s.Reasons) == 0 {
			what, style = "drop", term.Dim
		}
		t.Row(term.Cell{Text: what}, term.Cell{Text: s.Name, Style: style}, term.Cell{Text: s.Branch},
			term.Cell{Text: human.Moment(s.Created), Style: term.Dim}, term.Cell{Text: a.Out.Name(strings.Join(s.Reasons, ", "))})
	}
	if len(all) > 0 {
		if err := t.Print(a.Out); err != nil {
			return err
		}
	}

	dropped := human.Plural(int64(len(p.Dropped)), "snapshot", "snapshots")
	if dry {
		return a.Out.Printf("would forget %s, and keep %s\n", dropped, human.Comma(int64(len(p.Kept))))
	}
	return a.Out.Printf("forgot %s, and kept %s\n", dropped, human.Comma(int64(len(p.Kept))))
}
