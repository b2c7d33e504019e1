package main

import (
	"context"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A completer suggests what may come next on a command line.
type completer = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective)

const noFiles = cobra.ShellCompDirectiveNoFileComp

// suggest opens the database, if there is one, and asks fn. A completion never creates, waits long, or complains.
func (a *app) suggest(cmd *cobra.Command, fn func(ctx context.Context, fsys *vfs.FS) []cobra.Completion) []cobra.Completion {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	store, err := a.open(ctx, reads)
	if err != nil {
		return nil
	}
	defer store.Close()
	fsys := store
	if a.at != "" {
		if fsys, err = a.resolve(ctx, store, a.at); err != nil {
			return nil
		}
	}
	return fn(ctx, fsys)
}

func (a *app) completeBranches(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.suggest(cmd, func(ctx context.Context, fsys *vfs.FS) (all []cobra.Completion) {
		list, _ := fsys.Branches(ctx)
		for _, b := range list {
			if strings.HasPrefix(b.Name, typed) {
				all = append(all, cobra.CompletionWithDesc(b.Name, "branch"))
			}
		}
		return all
	}), noFiles
}

func (a *app) completeSnapshots(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.suggest(cmd, func(ctx context.Context, fsys *vfs.FS) (all []cobra.Completion) {
		list, _ := snapshot.List(ctx, fsys)
		for _, s := range list {
			if strings.HasPrefix(s.Name, typed) {
				all = append(all, cobra.CompletionWithDesc(s.Name, "snapshot of "+s.Branch+", "+moment(s.Created)))
			}
		}
		return all
	}), noFiles
}

// completeSessions suggests sessions that lately called something.
func (a *app) completeSessions(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const lately = 1000
	return a.suggest(cmd, func(ctx context.Context, fsys *vfs.FS) (all []cobra.Completion) {
		calls, _ := fsys.Calls(ctx, &vfs.CallOptions{Max: lately, Newest: true})
		told := map[string]bool{"": true}
		for _, c := range calls {
			if !told[c.Session] && strings.HasPrefix(c.Session, typed) && isPrintable(c.Session) {
				told[c.Session] = true
				all = append(all, cobra.CompletionWithDesc(c.Session, "until "+moment(c.At)))
			}
		}
		return all
	}), noFiles
}

// completeTrees suggests what diff takes: snapshots and branches.
func (a *app) completeTrees(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	snapshots, _ := a.completeSnapshots(cmd, args, typed)
	branches, _ := a.completeBranches(cmd, args, typed)
	return append(snapshots, branches...), noFiles
}

// completePaths suggests paths in the tree, one directory at a time.
func (a *app) completePaths(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const most = 500
	dir, base := path.Split(typed)
	directive := noFiles
	all := a.suggest(cmd, func(ctx context.Context, fsys *vfs.FS) (all []cobra.Completion) {
		entries, err := fsys.ReadDirPage(ctx, path.Join("/", dir), before(base), most)
		if err != nil {
			return nil
		}
		for _, e := range entries {
			name := e.Name()
			if !strings.HasPrefix(name, base) || !isPrintable(name) {
				continue
			}
			if e.IsDir() {
				name += "/"
				directive = noFiles | cobra.ShellCompDirectiveNoSpace
			}
			all = append(all, dir+name)
		}
		return all
	})
	return all, directive
}

// before is a name just below every name that begins with prefix.
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

// completeArgs gives each argument its own completer; nil is a file of the host. The last one serves those that follow.
func completeArgs(byPlace ...completer) completer {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		c := byPlace[min(len(args), len(byPlace)-1)]
		if c == nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return c(cmd, args, typed)
	}
}

// completeNothing is for arguments that only the user knows.
func completeNothing(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, noFiles
}
