package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

// refsCommand is the page of help about references.
func refsCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		GroupID: groupHistory,
		Use:     "refs",
		Short:   "Explain how to name a tree, a moment, and a file in it",
		Long: `REF names a tree. It is one of:

  main                          a branch, as it is now
  before-refactor               a snapshot
  main@before-refactor          a snapshot, which must be one of this branch
  main@{2 hours ago}            the branch as it was then; also seconds,
                                minutes, days, weeks, months and years
  main@{2026-11-22T10:00:00Z}   the same at a time; without a zone it is local
  main@{call 71}                after that call of log
  main@{-3}                     before the last three calls
  @{-3}                         the same of the branch that you stand on

REF:PATH names a file there, in cat, get, cp, ls, stat, grep, blame, diff and restore; REF: is the root. What begins with no
reference to something that exists is a path. Where it could be both, it is REF:PATH; ./a:b is always a path. A branch
or a snapshot whose very name is REF comes first.

--at, diff, merge, branch create --from and snapshot restore take such a REF too.

Every call has a state before and after it. Changes that belong to no call, such as those through a live mount, may
share one; at a time between them it is the one before them all. A state can be read until gc takes it; snapshots, forks
and merges keep theirs. One that is gone is an error with the nearest snapshots, and the exit code is 14.`,
		Example: `  vfsctl cat 'main@{2 hours ago}:src/main.go'
  vfsctl diff -p 'main@{-3}'
  vfsctl restore 'main@{-3}:src/main.go'
  vfsctl --at 'main@{call 71}' ls -R
  vfsctl branch create again --from '@{1 day ago}'`,
		Args: cli.Args(0, 0),
		RunE: a.Plain(func(cmd *cobra.Command, _ []string) error { return cmd.Help() }),
	}
}

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
