package exchange

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/git"
)

func gitCommand(a *cli.App) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "git COMMAND",
		Short: "Go on to git, and come from there",
		Long: `Write branches with their snapshots as commits for git, and make branches from the commits of a
repository. Git has no empty directories, owners, times, extended attributes, hard links and devices, and of modes
only 644 and 755; the store has no submodules. What is lost is counted, and what is left out is named.`,
		Example: `  vfsctl git import ~/project main           its snapshot is main-0123456789ab
  vfsctl git export main --since main-0123456789ab --ref agent |
    git -C ~/project fast-import`,
	}, gitExport(a), gitImport(a))
}

// reportLost says what git, or the store, has no place for.
func reportLost(a *cli.App, r *git.Report) error {
	for _, what := range slices.Sorted(maps.Keys(r.Lost)) {
		if what == git.LostEmptyDirs {
			a.Warn("not kept: %s", human.Plural(r.Lost[what], "empty directory", string(what)))
			continue
		}
		a.Warn("not kept: %s, of %s", what, human.Plural(r.Lost[what], "file or directory", "files and directories"))
	}
	for _, x := range r.Refused {
		a.Warn("left out: %s: %s", x.Path, x.Why)
	}
	if r.More > 0 {
		a.Warn("left out: %d more", r.More)
	}
	if len(r.Refused) > 0 {
		return cli.ExitPartly
	}
	return nil
}

// gitContents counts what a report says.
func gitContents(r *git.Report) string {
	return fmt.Sprintf("%s, %s, %s", human.Plural(r.Commits, "commit", "commits"), human.Plural(r.Files, "file", "files"), human.Size(r.Bytes))
}

// A gitJSON is the result of an export to git, or of an import, as JSON shows it.
type gitJSON struct {
	Branch   string             `json:"branch,omitempty"`
	Snapshot string             `json:"snapshot,omitempty"`
	Commits  int64              `json:"commits"`
	Files    int64              `json:"files"`
	Bytes    int64              `json:"bytes"`
	Lost     map[git.Loss]int64 `json:"lost"`
	Refused  []refusalJSON      `json:"refused"`
	More     int64              `json:"refused_more,omitempty"`
}

func newGitJSON(r *git.Report) gitJSON {
	j := gitJSON{
		Branch: r.Branch, Snapshot: r.Snapshot, Commits: r.Commits, Files: r.Files, Bytes: r.Bytes,
		Lost: map[git.Loss]int64{}, Refused: []refusalJSON{}, More: r.More,
	}
	maps.Copy(j.Lost, r.Lost)
	for _, x := range r.Refused {
		j.Refused = append(j.Refused, refusalJSON{x.Path, human.Base64(x.Path), x.Why})
	}
	return j
}
