package history

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

func watchCommand(a *cli.App) *cobra.Command {
	var since int64
	var number int
	cmd := &cobra.Command{
		Use:   "watch [PATH]",
		Short: "Show changes as they happen",
		Long: `Show changes of the branch by any process from now on, or only those at PATH or below it. Each event is
shown once, in the order of the commits, and has a number. A later watch --since that number continues exactly there.
--since 0 begins with the oldest event that is kept. The command ends at an interrupt, or after -n events.`,
		Example: `  vfsctl watch
  vfsctl watch docs --json
  vfsctl watch --since 2041 -n 1`,
		Args:              cli.Args(0, 1),
		ValidArgsFunction: cli.CompleteArgs(a.CompletePaths, cli.CompleteNothing),
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			switch {
			case since < 0 || number < 0:
				return cli.Usage(c.Cmd, "--max and --since cannot be below 0")
			case a.At != "":
				return cli.Usage(c.Cmd, "nothing happens to a snapshot: with --at there is nothing to watch")
			}

			if !c.Cmd.Flags().Changed("since") {
				var err error
				if since, err = c.FS.Seq(c); err != nil {
					return err
				}
			}

			return follow(a, c, c.Arg(0, ""), since, number)
		}),
	}

	f := cmd.Flags()
	f.Int64Var(&since, "since", 0, "begin after number `SEQ`; now if left out")
	f.IntVarP(&number, "max", "n", 0, "end after `N` events; 0 is never")
	return cmd
}

// follow prints events until number of them are shown. If number is 0, it goes on until the context ends, which is no
// error.
func follow(a *cli.App, c *cli.Call, path string, since int64, number int) error {
	shown := 0
	for e, err := range c.FS.Watch(c, path, since) {
		if err != nil {
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}
		if err := printEvent(a, &e); err != nil {
			return err
		}
		if err := a.Out.Flush(); err != nil { // a reader of a pipe waits for it
			return err
		}
		if shown++; shown == number {
			return nil
		}
	}
	return nil
}
