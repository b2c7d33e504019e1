package main

import (
	"fmt"
	"os/exec"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

// unknownCommand refuses a first word that is no command. It names the command that serves instead, if there is one, and in a
// shell says how a program of the host is run.
func unknownCommand(a *cli.App) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		err := cli.UnknownCommand(cmd, args[0], "")
		if _, missing := exec.LookPath(args[0]); a.Shell() != nil && missing == nil && err.Hint == "" {
			err.Hint = "a line that begins with ! is for the host: !" + args[0]
		}
		return err
	}
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
