package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

// unknownCommand refuses a first word that is no command. It names the command that serves instead, if there is one.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return cli.UnknownCommand(cmd, args[0], "")
}

// noCommand is vfsctl without a command: it prints the version or the help. Cobra's own flag would print the version
// for "remote -v" too, before a word that is no command is refused.
func noCommand(cmd *cobra.Command, _ []string) error {
	if version, _ := cmd.Flags().GetBool("version"); version {
		fmt.Fprintf(cmd.OutOrStdout(), "vfsctl version %s\n", cli.Version())
		return nil
	}
	return cmd.Help()
}
