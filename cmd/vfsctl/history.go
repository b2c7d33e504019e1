package main

import "github.com/spf13/cobra"

// historyCommands are those about what was, in the order of help.
func historyCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		snapshotCommand(a), branchCommand(a), diffCommand(a),
		logCommand(a), blameCommand(a), watchCommand(a),
	}
}
