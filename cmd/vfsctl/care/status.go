package care

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/gc"
	"vfsdb/merge"
	"vfsdb/purge"
	"vfsdb/vfs"
)

// A statusJSON is the state of a database, seen from outside.
type statusJSON struct {
	State     string    `json:"state"` // "open", "absent", "failed"
	DB        string    `json:"db"`
	Error     string    `json:"error,omitempty"` // the reason why it, or its branch, does not open
	ID        string    `json:"id,omitempty"`
	Format    int64     `json:"format,omitempty"`
	Branch    string    `json:"branch,omitempty"`    // the one that commands stand on
	ChosenBy  string    `json:"chosen_by,omitempty"` // what names it, if not the command line: "vfsctl switch" or "$VFS_BRANCH"
	Branches  int       `json:"branches,omitempty"`
	Conflicts int       `json:"conflicts"` // files of the branch that merges could not decide about
	FileSize  int64     `json:"file_size"`
	WALSize   int64     `json:"wal_size"`
	LastWrite time.Time `json:"last_write,omitzero"` // to the file or to its write-ahead log
	Changed   time.Time `json:"changed,omitzero"`    // the time of the last change of the branch
	Seq       int64     `json:"seq,omitempty"`       // of the newest event of all branches
	Writer    string    `json:"writer,omitempty"`    // "idle", "busy", "refused"
	Leases    int       `json:"leases"`              // of live processes that have files open or store content
	Stale     int       `json:"stale_leases"`        // of processes that have ended
	Purge     time.Time `json:"purge,omitzero"`      // the time when a purge began that is not finished
}

func statusCommand(a *cli.App) *cobra.Command {
	prompt := false
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of the database, from outside",
		Long: `Show the state of the database: whether it opens, the branch that commands stand on and what names it, when
both last changed, whether a process writes at this moment, how long its write-ahead log is, and how many
processes have files open. It changes nothing and reads little, so it may run all the time. If the database does not
open, the exit code has the reason; if only the branch does not exist, the state of the database is shown all the
same. check looks inside.

--prompt prints only the name of the branch, for the prompt of a shell: with a ? if the branch is gone, and nothing
where there is no database. Its exit code is 0.`,
		Example: `  vfsctl status
  vfsctl status --json | jq -e '.state == "open"'
  PS1='\w $(vfsctl status --prompt) \$ '                          # bash
  setopt prompt_subst; PROMPT='%~ $(vfsctl status --prompt) %# '  # zsh
  function fish_right_prompt; vfsctl status --prompt; end         # fish`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cli.CompleteNothing,
		RunE: a.Plain(func(cmd *cobra.Command, _ []string) error {
			if err := cli.Exclusive(cmd, "prompt", "json"); err != nil {
				return err
			}
			if prompt {
				return printPrompt(cmd.Context(), a)
			}
			s, failure := observe(cmd.Context(), a)
			if err := printStatus(a, s); err != nil {
				return err
			}
			return failure
		}),
	}
	cmd.Flags().BoolVar(&prompt, "prompt", false, "print only the name of the branch, for the prompt of a shell")
	return cmd
}

// printPrompt prints the branch that commands stand on. It has nothing to say about a database that does not open.
func printPrompt(ctx context.Context, a *cli.App) error {
	gone := ""
	fsys, err := a.Open(ctx, cli.Reads)
	switch {
	case cli.IsNoBranch(err):
		gone = "?"
	case err != nil:
		return nil
	default:
		if err := fsys.Close(); err != nil {
			return nil
		}
	}
	return a.Out.Printf("%s%s\n", a.Out.Name(branchOf(a)), gone)
}

// branchOf returns the branch that commands stand on.
func branchOf(a *cli.App) string { return cmp.Or(a.Branch, vfs.MainBranch) }

// observe looks at the files of a database and opens it. The error is that of opening.
func observe(ctx context.Context, a *cli.App) (statusJSON, error) {
	s := statusJSON{State: "open", DB: a.DB}
	for name, size := range map[string]*int64{a.DB: &s.FileSize, a.DB + "-wal": &s.WALSize} {
		info, err := os.Stat(name)
		if err != nil {
			continue
		}
		*size = info.Size()
		if t := info.ModTime().UTC(); t.After(s.LastWrite) {
			s.LastWrite = t
		}
	}

	err := a.OfStore(observeOpen(ctx, a, s.read, s.readBranch))
	if s.Branch, s.ChosenBy = branchOf(a), a.Chooser(); cli.IsNoBranch(err) {
		a.NoBranch()
		s.Error = err.Error()
		if failed := a.OfStore(observeOpen(ctx, a, s.read)); failed != nil {
			err = failed
		}
	}

	var none *cli.NoDatabaseError
	switch {
	case errors.As(err, &none):
		s.State, s.Error, s.Branch, s.ChosenBy = "absent", err.Error(), "", ""
	case err != nil && !cli.IsNoBranch(err):
		s.State, s.Error, s.Branch, s.ChosenBy = "failed", err.Error(), "", ""
	}
	return s, err
}

// observeOpen opens the database, and adds what each of the functions finds out.
func observeOpen(ctx context.Context, a *cli.App, read ...func(context.Context, *vfs.FS) error) (err error) {
	fsys, err := a.Open(ctx, cli.Reads)
	if err != nil {
		return err
	}
	defer func() {
		if closed := fsys.Close(); err == nil {
			err = closed
		}
	}()

	for _, fn := range read {
		if err := fn(ctx, fsys); err != nil {
			return err
		}
	}
	return nil
}

// readBranch counts the conflicts of the branch, and finds its last change.
func (s *statusJSON) readBranch(ctx context.Context, fsys *vfs.FS) error {
	conflicts, err := merge.Conflicts(ctx, fsys)
	if err != nil {
		return err
	}
	s.Conflicts = len(conflicts)

	events, err := fsys.Log(ctx, &vfs.LogOptions{Max: 1, Newest: true})
	if err != nil {
		return err
	}
	for _, e := range events {
		s.Changed = e.At.UTC()
	}
	return nil
}

// read reads the identity of the database, counts its branches and leases, and looks whether a process writes.
func (s *statusJSON) read(ctx context.Context, fsys *vfs.FS) (err error) {
	store := fsys.Store()
	if s.ID, err = store.ID(ctx); err != nil {
		return err
	}
	if s.Format, err = store.Format(ctx); err != nil {
		return err
	}

	branches, err := store.Branches(ctx)
	if err != nil {
		return err
	}
	s.Branches = len(branches)
	if s.Seq, err = fsys.Seq(ctx); err != nil {
		return err
	}
	if s.Leases, s.Stale, err = gc.Leases(ctx, fsys); err != nil {
		return err
	}
	if began, unfinished, err := purge.Unfinished(ctx, fsys); err != nil {
		return err
	} else if unfinished {
		s.Purge = began.UTC()
	}
	s.Writer, err = writer(ctx, fsys)
	return err
}

// errProbe ends a transaction that only had to begin.
var errProbe = errors.New("probe")

// writer reports whether a process writes at this moment: it tries to begin a transaction.
func writer(ctx context.Context, fsys *vfs.FS) (string, error) {
	soon, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	err := fsys.Update(soon, func(*vfs.Tx) error { return errProbe })
	switch {
	case errors.Is(err, errProbe):
		return "idle", nil
	case errors.Is(err, syscall.EROFS):
		return "refused", nil
	case errors.Is(err, syscall.EBUSY), errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return "busy", nil
	}
	return "", err
}

func (s *statusJSON) changed() string {
	if s.Changed.IsZero() {
		return "never"
	}
	return human.Moment(s.Changed)
}

func printStatus(a *cli.App, s statusJSON) error {
	if a.JSON {
		return a.Out.JSON(s)
	}

	lines := [][2]string{{"file", a.Out.Name(s.DB)}, {"state", s.State}}
	if s.State == "open" {
		conflicts, changed := human.Comma(int64(s.Conflicts)), s.changed()
		if s.Error != "" { // they are of the branch
			conflicts, changed = "", ""
		}
		branch := a.Out.Name(s.Branch)
		if s.ChosenBy != "" {
			branch += " (" + s.ChosenBy + " names it)"
		}
		lines = append(lines, [][2]string{
			{"id", s.ID},
			{"format", fmt.Sprint(s.Format)},
			{"branch", branch},
			{"branches", human.Comma(int64(s.Branches))},
			{"conflicts", conflicts},
			{"size", human.Size(s.FileSize)},
			{"wal", human.Size(s.WALSize)},
			{"written", human.Moment(s.LastWrite)},
			{"changed", changed},
			{"writer", s.Writer},
			{"leases", fmt.Sprintf("%d live, %d stale", s.Leases, s.Stale)},
		}...)
	}
	if !s.Purge.IsZero() {
		lines = append(lines, [2]string{"purge", "not finished since " + human.Moment(s.Purge) + ": " + a.Invoke("purge", "--everywhere", "--yes")})
	}

	return a.Out.Fields(lines...)
}
