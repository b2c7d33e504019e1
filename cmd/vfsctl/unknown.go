package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

// wellKnown maps commands of other tools to advice about the command that does their work here.
var wellKnown = map[string]string{
	"cd":       "shell has a prompt with cd; elsewhere paths begin at the root",
	"checkout": "switch stands on a branch, and restore brings files back",
	"clone":    "backup copies the whole database",
	"commit":   "every command commits by itself; snapshot create names the moment",
	"dir":      "ls lists a directory",
	"exec":     "run works on a branch with any program of the host",
	"forget":   "snapshot prune forgets old snapshots, and gc gives back their space",
	"fsck":     "check looks for damage",
	"history":  "log shows what happened",
	"prune":    "snapshot prune forgets old snapshots, and gc gives back their space",
	"rebase":   "merge brings a branch up to date with another",
	"repair":   "check names what is damaged; export --partial saves the rest",
	"reset":    "restore goes back to a snapshot",
	"revert":   "undo takes back what a call did, and restore brings files back",
	"scrub":    "purge removes files from all of history, and their bytes from the database",
	"search":   "grep searches contents, and find names",
	"serve":    "mcp serves the files to agents, and webdav to file managers",
	"stats":    "df shows what the database takes, and info what it is",
	"umount":   "mount ends at an interrupt, or by: umount DIR",
	"unmount":  "mount ends at an interrupt, or by: umount DIR",
	"vacuum":   "gc gives back space, and compact stores contents in less",
	"verify":   "check looks for damage, and hashes every chunk",
	"version":  "vfsctl --version prints it",
}

// unknownCommand is the error of a first word that is no command. It names the command that serves instead, if there is
// one.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	word := args[0]
	advice, ok := wellKnown[word]
	if !ok {
		advice = cli.NearCommand(cmd, word)
	}
	return &cli.UsageError{Err: fmt.Errorf("unknown command %q", word), Try: cmd.CommandPath() + " --help", Hint: advice}
}
