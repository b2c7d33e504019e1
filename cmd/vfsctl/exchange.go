package main

import "github.com/spf13/cobra"

// exchangeCommands are those that move trees in and out, in the order of help.
func exchangeCommands(a *app) []*cobra.Command {
	return []*cobra.Command{importCommand(a), exportCommand(a), backupCommand(a)}
}
