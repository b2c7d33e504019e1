package main

import "github.com/spf13/cobra"

// careCommands are those that look after a database, in the order of help.
func careCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		initCommand(a), statusCommand(a), infoCommand(a), dfCommand(a),
		checkCommand(a), gcCommand(a), compactCommand(a),
	}
}
