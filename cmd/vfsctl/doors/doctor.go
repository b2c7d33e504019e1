package doors

import (
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/run"
)

func doctorCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Try which ways of run work here",
		Long: `Try each way in which run shows files to a program, and each rule that it can put one under, on an empty
database of its own. A way that does not work is shown with the reason and, if there is one, a remedy. Below that are
the facts of this host that matter. It needs no database, and its exit code is 0 whatever works.`,
		Example: `  vfsctl doctor
  vfsctl doctor --json | jq 'select(.works == false)'`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cli.CompleteNothing,
		RunE: a.Plain(func(cmd *cobra.Command, _ []string) error {
			found, err := run.Probe(cmd.Context())
			if err != nil {
				return err
			}
			facts := run.Facts()
			if a.JSON {
				return doctorJSON(a, found, facts)
			}

			var t term.Table
			t.Head("WAY", "WORKS", "WHY NOT")
			for _, f := range found {
				works, why := "yes", f.Why
				if !f.Works {
					works = "no"
				}
				if f.Remedy != "" {
					why += "; " + f.Remedy
				}
				t.Row(term.Cell{Text: f.Name, Style: term.Bold}, term.Cell{Text: works}, term.Cell{Text: why})
			}
			if err := t.Print(a.Out); err != nil {
				return err
			}
			if err := a.Out.Printf("\n"); err != nil {
				return err
			}
			for _, f := range facts {
				if err := a.Out.Printf("%s: %s\n", f[0], f[1]); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

// doctorJSON prints an object for each finding, and one for each fact.
func doctorJSON(a *cli.App, found []run.Finding, facts [][2]string) error {
	for _, f := range found {
		if err := a.Out.JSON(f); err != nil {
			return err
		}
	}
	for _, f := range facts {
		err := a.Out.JSON(struct {
			Fact  string `json:"fact"`
			Value string `json:"value"`
		}{f[0], f[1]})
		if err != nil {
			return err
		}
	}
	return nil
}
