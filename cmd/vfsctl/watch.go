package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

func watchCommand(a *app) *cobra.Command {
	var since int64
	var number int
	cmd := &cobra.Command{
		Use:   "watch [PATH]",
		Short: "Show what happens, as it happens",
		Long: `Show what happens to the branch from now on, or only to PATH and what is below it, whoever does
it in whichever process. Each event is shown once, in the order of the commits, and has a number:
a later watch --since that number goes on exactly there, whatever happened in between. --since 0 begins with
the oldest that is kept. Ends at an interrupt, or after -n events.`,
		Example: `  vfsctl watch
  vfsctl watch docs --json
  vfsctl watch --since 2041 -n 1`,
		Args:              args(0, 1),
		ValidArgsFunction: completeArgs(a.completePaths, completeNothing),
		RunE: a.on(reads, func(c *call) error {
			switch {
			case since < 0 || number < 0:
				return usage(c.cmd, "--max and --since cannot be below 0")
			case a.at != "":
				return usage(c.cmd, "nothing happens to a snapshot: with --at there is nothing to watch")
			}
			if !c.cmd.Flags().Changed("since") {
				var err error
				if since, err = c.fsys.Seq(c); err != nil {
					return err
				}
			}
			return a.follow(c, c.arg(0, ""), since, number)
		}),
	}
	f := cmd.Flags()
	f.Int64Var(&since, "since", 0, "begin after number `SEQ`; now if left out")
	f.IntVarP(&number, "max", "n", 0, "end after `N` events; 0 is never")
	return cmd
}

// follow prints events until the context ends, which is how a watch is meant to end, or number of them are shown.
func (a *app) follow(c *call, path string, since int64, number int) error {
	shown := 0
	for e, err := range c.fsys.Watch(c, path, since) {
		if err != nil {
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}
		if err := a.event(&e); err != nil {
			return err
		}
		if err := a.out.Flush(); err != nil { // a reader at the other end of a pipe waits for it
			return err
		}
		if shown++; shown == number {
			return nil
		}
	}
	return nil
}
