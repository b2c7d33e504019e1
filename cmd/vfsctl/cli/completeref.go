package cli

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/human"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// CompleteMoments suggests snapshots, and behind @{ moments of the past.
func (a *App) CompleteMoments(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if strings.Contains(typed, "@{") {
		return a.moments(cmd, typed), NoFiles
	}
	return a.CompleteSnapshots(cmd, args, typed)
}

// moments suggests the ends of a reference that has a moment.
func (a *App) moments(cmd *cobra.Command, typed string) []cobra.Completion {
	const lately, shown = 100, 10
	name := typed[:strings.LastIndex(typed, "@{")+len("@{")]
	return a.suggestNames(cmd, func(ctx context.Context, fsys *vfs.FS) (all []cobra.Completion) {
		add := func(moment, what string) {
			if word := name + moment + "}"; strings.HasPrefix(word, typed) {
				all = append(all, cobra.CompletionWithDesc(word, what))
			}
		}
		add("-1", "before the last call")
		add("1 hour ago", "")
		add("1 day ago", "")
		calls, _ := fsys.Store().Calls(ctx, &vfs.CallOptions{Max: lately, Newest: true})
		for _, c := range calls {
			if c.Changes > 0 && len(all) < shown {
				add(fmt.Sprintf("call %d", c.ID), human.Plural(c.Changes, "change", "changes")+", "+human.Moment(c.At))
			}
		}
		return all
	})
}

// CompleteTrees suggests snapshots and branches, and behind @{ moments of the past.
func (a *App) CompleteTrees(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if strings.Contains(typed, "@{") {
		return a.moments(cmd, typed), NoFiles
	}
	snapshots, _ := a.CompleteSnapshots(cmd, args, typed)
	branches, _ := a.CompleteBranches(cmd, args, typed)
	return append(snapshots, branches...), NoFiles
}

// CompleteTreesAndPaths suggests snapshots, branches and paths.
func (a *App) CompleteTreesAndPaths(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	trees, _ := a.CompleteTrees(cmd, args, typed)
	paths, directive := a.CompletePaths(cmd, args, typed)
	return append(trees, paths...), directive
}

// CompletePaths suggests paths in the tree, one directory at a time; behind REF: those of another tree. Where a command takes
// that, trees are suggested too, once their name is begun.
func (a *App) CompletePaths(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const most = 500
	directive := NoFiles
	if a.probing != nil {
		a.probing.path = true
		return nil, NoFiles
	}

	// The page begins at the first name that may match, so a directory of any size costs one page.
	all := a.suggest(cmd, func(ctx context.Context, fsys *vfs.FS) (all []cobra.Completion) {
		tree, name, err := snapshot.ResolvePath(ctx, fsys, typed)
		if err != nil {
			return nil
		}
		if strings.HasSuffix(typed, ":") && name == "/" {
			name = ""
		}
		dir, base := path.Split(name)
		ref := strings.TrimSuffix(typed, name)
		entries, err := tree.Tree().ReadDirPage(ctx, a.begin(ref, name)+dir, before(base), most)
		if err != nil {
			return nil
		}

		for _, e := range entries {
			name := e.Name()
			if !strings.HasPrefix(name, base) || !human.IsPrintable(name) {
				continue
			}
			if e.IsDir() {
				name += "/"
				directive = NoFiles | cobra.ShellCompDirectiveNoSpace
			}
			all = append(all, ref+dir+name)
		}
		return all
	})

	if !strings.Contains(cmd.Use, "[REF:]") || typed == "" || strings.ContainsAny(typed, "/:") {
		return all, directive
	}
	trees, _ := a.CompleteTrees(cmd, nil, typed)
	for _, tree := range trees {
		ref, what, _ := strings.Cut(tree, "\t")
		all = append(all, cobra.CompletionWithDesc(ref+":", what))
		directive = NoFiles | cobra.ShellCompDirectiveNoSpace
	}
	return all, directive
}
