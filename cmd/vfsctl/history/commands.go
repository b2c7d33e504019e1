package history

import (
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

// Commands returns the commands about the past of a tree, in the order of help.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{
		snapshotCommand(a), branchCommand(a), switchCommand(a), diffCommand(a), restoreCommand(a),
		mergeCommand(a), conflictsCommand(a), resolveCommand(a),
		undoCommand(a), redoCommand(a),
		logCommand(a), showCommand(a), blameCommand(a), watchCommand(a),
	}
}
