package files

import (
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

// Commands returns the commands about files, in the order of help.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{
		lsCommand(a), treeCommand(a), catCommand(a), putCommand(a), getCommand(a), statCommand(a), findCommand(a), grepCommand(a), editCommand(a),
		rmCommand(a), mvCommand(a), cpCommand(a), mkdirCommand(a), lnCommand(a), chmodCommand(a), touchCommand(a), xattrCommand(a), duCommand(a),
	}
}
