package exchange

import (
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

// Commands returns the commands that move whole trees in and out, in the order of help.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{importCommand(a), exportCommand(a), gitCommand(a), applyCommand(a), backupCommand(a)}
}
