package doors

import (
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

// Commands returns the commands that serve files to agents, in the order of help.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{mcpCommand(a), toolsCommand(a), mountCommand(a), runCommand(a), doctorCommand(a), webdavCommand(a)}
}
