package care

import (
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

// Commands returns the commands that look after a database, in the order of help.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{
		initCommand(a), statusCommand(a), infoCommand(a), dfCommand(a),
		checkCommand(a), gcCommand(a), compactCommand(a), purgeCommand(a),
	}
}
