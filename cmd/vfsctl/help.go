package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

func helpCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		Long:  "Show what a command does and how it is called, as COMMAND --help does.",
		Example: `  vfsctl help
  vfsctl help import
  vfsctl help snapshot create`,
		ValidArgsFunction: completeCommands,
		RunE:              a.Plain(showHelp),
	}
}

// completeCommands suggests the commands below the one that the arguments name.
func completeCommands(cmd *cobra.Command, args []string, typed string) (all []cobra.Completion, _ cobra.ShellCompDirective) {
	about, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cli.NoFiles
	}
	for _, c := range about.Commands() {
		if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), typed) {
			all = append(all, cobra.CompletionWithDesc(c.Name(), c.Short))
		}
	}
	return all, cli.NoFiles
}

func showHelp(cmd *cobra.Command, args []string) error {
	about, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		u := &cli.UsageError{Err: fmt.Errorf("no command is called %q", strings.Join(args, " ")), Try: cmd.Root().CommandPath() + " --help"}
		if len(rest) > 0 {
			u.Hint = cli.NearCommand(about, rest[0])
		}
		return u
	}
	about.InitDefaultHelpFlag()
	about.InitDefaultVersionFlag()
	return about.Help()
}
