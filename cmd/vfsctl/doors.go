package main

import "github.com/spf13/cobra"

// doorsCommands are those that serve files to agents, in the order of help.
func doorsCommands(a *app) []*cobra.Command {
	return []*cobra.Command{mcpCommand(a), toolsCommand(a)}
}
