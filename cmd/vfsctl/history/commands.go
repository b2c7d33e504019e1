package history

import (
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

// Commands returns the commands about what was, in the order of help.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{
		snapshotCommand(a), branchCommand(a), diffCommand(a),
		logCommand(a), blameCommand(a), watchCommand(a),
	}
}
