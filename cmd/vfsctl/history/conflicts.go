package history

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/merge"
	"vfsdb/vfs"
)

func conflictsCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "conflicts",
		Short: "List what merges could not decide",
		Long: `List the files in conflict: what of each conflicts, its size on both sides, and the name of the side that was
merged. Forks and snapshots of a branch have its conflicts too. cat --side shows the states of a file, and resolve
decides between them.`,
		Example: `  vfsctl conflicts
  vfsctl cat --side markers main.go
  vfsctl conflicts --json | jq -r .path`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cli.CompleteNothing,
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			list, err := merge.Conflicts(c, c.FS)
			if err != nil {
				return err
			}

			var t term.Table
			t.Head("PATH", "CONFLICT", "OURS", "THEIRS", "FROM")
			for _, one := range list {
				if a.JSON {
					if err := a.Out.JSON(newConflictJSON(one)); err != nil {
						return err
					}
					continue
				}
				t.Row(
					term.Cell{Text: a.Out.Name(one.Path), Style: term.Bold},
					term.Cell{Text: strings.Join(one.Parts, ", ")},
					term.Cell{Text: stateOf(one.Ours), Right: true},
					term.Cell{Text: stateOf(one.Theirs), Right: true},
					term.Cell{Text: a.Out.Name(one.TheirsLabel), Style: term.Dim},
				)
			}
			if len(t.Rows) == 1 { // no conflict, no titles
				return nil
			}
			return t.Print(a.Out)
		}),
	}
}

// stateOf describes a file on one side in a word.
func stateOf(info *vfs.Info) string {
	switch {
	case info == nil:
		return "-"
	case info.Mode().IsRegular():
		return human.Size(info.Size())
	}
	return human.Type(info.Mode())
}

// A conflictJSON is a conflict as JSON shows it. A side that does not have the file is left out.
type conflictJSON struct {
	Path   string     `json:"path"`
	Base64 string     `json:"path_base64,omitempty"`
	Parts  []string   `json:"parts"`
	Base   *cli.Entry `json:"base,omitempty"`
	Ours   *cli.Entry `json:"ours,omitempty"`
	Theirs *cli.Entry `json:"theirs,omitempty"`
	From   string     `json:"from"`
}

func newConflictJSON(c merge.Conflict) conflictJSON {
	side := func(info *vfs.Info) *cli.Entry {
		if info == nil {
			return nil
		}
		e := cli.NewEntry(c.Path, info)
		if info.BirthTime().Equal(time.Unix(0, 0)) { // of a state that is kept, only the time of its content is
			e.Changed, e.Created = time.Time{}, time.Time{}
		}
		return &e
	}
	return conflictJSON{
		Path: c.Path, Base64: human.Base64(c.Path), Parts: c.Parts,
		Base: side(c.Base), Ours: side(c.Ours), Theirs: side(c.Theirs), From: c.TheirsLabel,
	}
}
