package exchange

import (
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

// Commands are those that move trees in and out, in the order of help.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{importCommand(a), exportCommand(a), backupCommand(a)}
}
