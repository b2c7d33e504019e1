package cli

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/human"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A completer suggests the next word of a command line.
type completer = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective)

// NoFiles keeps a shell from suggesting files of the host.
const NoFiles = cobra.ShellCompDirectiveNoFileComp

// suggest opens the database on the tree that the flags name, and asks fn. A completion creates no database, waits two
// seconds at most, and reports no error.
func (a *App) suggest(cmd *cobra.Command, fn func(ctx context.Context, fsys *vfs.FS) []cobra.Completion) []cobra.Completion {
	if err := a.stand(cmd, nil); err != nil || a.probing != nil {
		return nil
	}
	return a.ask(cmd, fn)
}

// ask is suggest for an App that stands.
func (a *App) ask(cmd *cobra.Command, fn func(ctx context.Context, fsys *vfs.FS) []cobra.Completion) []cobra.Completion {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()

	store, err := a.Open(ctx, Reads)
	if err != nil {
		return nil
	}
	defer store.Close()
	fsys := store
	if a.At != "" {
		if fsys, err = a.resolve(ctx, store, a.At); err != nil {
			return nil
		}
	}

	return fn(ctx, fsys)
}

// suggestNames is suggest for names that all trees of the database share. The tree to stand on may be gone.
func (a *App) suggestNames(cmd *cobra.Command, fn func(ctx context.Context, fsys *vfs.FS) []cobra.Completion) []cobra.Completion {
	if a.probing != nil {
		a.probing.tree = true
		return nil
	}
	onMain := *a
	onMain.At = ""
	if err := onMain.stand(cmd, nil); err != nil {
		return nil
	}
	onMain.NoBranch()
	return onMain.ask(cmd, fn)
}

// CompleteBranches suggests branches.
func (a *App) CompleteBranches(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.suggestNames(cmd, func(ctx context.Context, fsys *vfs.FS) (all []cobra.Completion) {
		list, _ := fsys.Store().Branches(ctx)
		for _, b := range list {
			if strings.HasPrefix(b.Name, typed) {
				all = append(all, cobra.CompletionWithDesc(b.Name, "branch"))
			}
		}
		return all
	}), NoFiles
}

// CompleteSnapshots suggests snapshots of all branches.
func (a *App) CompleteSnapshots(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.suggestNames(cmd, func(ctx context.Context, fsys *vfs.FS) (all []cobra.Completion) {
		list, _ := snapshot.List(ctx, fsys)
		for _, s := range list {
			if strings.HasPrefix(s.Name, typed) {
				all = append(all, cobra.CompletionWithDesc(s.Name, "snapshot of "+s.Branch+", "+human.Moment(s.Created)))
			}
		}
		return all
	}), NoFiles
}

// CompleteSessions suggests the sessions of the newest calls.
func (a *App) CompleteSessions(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.suggestCalls(cmd, typed, func(c *vfs.CallRecord) (string, string) { return c.Session, "until " + human.Moment(c.At) })
}

// CompleteActors suggests the actors of the newest calls.
func (a *App) CompleteActors(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.suggestCalls(cmd, typed, func(c *vfs.CallRecord) (string, string) { return c.Actor, "until " + human.Moment(c.At) })
}

// CompleteTools suggests the tools and commands of the newest calls.
func (a *App) CompleteTools(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.suggestCalls(cmd, typed, func(c *vfs.CallRecord) (string, string) { return c.Tool, "until " + human.Moment(c.At) })
}

// CompleteCalls suggests the numbers of the newest calls that changed something.
func (a *App) CompleteCalls(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.suggestCalls(cmd, typed, func(c *vfs.CallRecord) (string, string) {
		if c.Changes == 0 {
			return "", ""
		}
		return strconv.FormatInt(c.ID, 10), human.Plural(c.Changes, "change", "changes") + ", " + human.Moment(c.At)
	})
}

// suggestCalls suggests a word for each of the newest calls, once; "" is none.
func (a *App) suggestCalls(cmd *cobra.Command, typed string, word func(*vfs.CallRecord) (word, what string)) ([]cobra.Completion, cobra.ShellCompDirective) {
	const lately = 1000
	return a.suggestNames(cmd, func(ctx context.Context, fsys *vfs.FS) (all []cobra.Completion) {
		calls, _ := fsys.Store().Calls(ctx, &vfs.CallOptions{Max: lately, Newest: true})
		seen := map[string]bool{"": true}
		for i := range calls {
			w, what := word(&calls[i])
			if !seen[w] && strings.HasPrefix(w, typed) && human.IsPrintable(w) {
				seen[w] = true
				all = append(all, cobra.CompletionWithDesc(w, what))
			}
		}
		return all
	}), NoFiles
}

// before returns a name that sorts below every name that begins with prefix, and above nearly all others.
func before(prefix string) string {
	if prefix == "" {
		return ""
	}
	last := prefix[len(prefix)-1]
	if last == 0 {
		return prefix[:len(prefix)-1]
	}
	return prefix[:len(prefix)-1] + string([]byte{last - 1}) + "\xff"
}

// CompleteArgs gives each argument its own completer. A nil completer suggests files of the host. The last one serves
// all further arguments.
func CompleteArgs(byPlace ...completer) completer {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		c := byPlace[min(len(args), len(byPlace)-1)]
		if c == nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return c(cmd, args, typed)
	}
}

// CompleteNothing suggests nothing: only the user knows the argument.
func CompleteNothing(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, NoFiles
}
