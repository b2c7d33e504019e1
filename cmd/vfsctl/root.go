package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/care"
	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/doors"
	"vfsdb/cmd/vfsctl/exchange"
	"vfsdb/cmd/vfsctl/files"
	"vfsdb/cmd/vfsctl/history"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/shell"
	"vfsdb/cmd/vfsctl/tour"
)

// The groups of the commands, as help shows them.
const (
	groupFiles   = "files"
	groupHistory = "history"
	groupInOut   = "in-out"
	groupCare    = "care"
	groupDoors   = "doors"
	groupShell   = "shell"
)

// newRoot makes the command vfsctl, with all others below it.
func newRoot(a *cli.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "vfsctl",
		Short: "Work with a versioned filesystem in one SQLite file",
		Long: `vfsctl works with a versioned filesystem that is one SQLite file.

The database is the file of --db, else $VFS_DB, else agent.db in the working directory or the nearest one above. Paths begin
at the root of its tree, wherever you are.

Commands work on the tree that --branch, --at or $VFS_BRANCH names, else on the branch of the last switch, else on main.
Those about the whole database, such as gc and branch list, look at --branch only.
Only init, import, put, tour and mcp --create create a database.`,
		Example: `  vfsctl tour .                          see everything once, on this directory
  vfsctl import . && vfsctl tree         take it in, and look at it
  vfsctl snapshot create before          name this moment
  vfsctl edit main.go --old 8080 --new 9090
  vfsctl diff -p before                  what has changed since
  vfsctl snapshot restore before         and back`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              unknownCommand(a),
		RunE:              noCommand,
	}
	root.Flags().BoolP("version", "v", false, "version for vfsctl")
	a.Register(root)

	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{groupFiles, "Files:", files.Commands(a)},
		{groupHistory, "History:", history.Commands(a)},
		{groupInOut, "In and out:", exchange.Commands(a)},
		{groupCare, "Care:", care.Commands(a)},
		{groupDoors, "Doors:", append(doors.Commands(a), completionCommand(a), tour.Command(a))},
		{groupShell, "Shell:", shellCommands(a)},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}

	root.AddCommand(refsCommand(a))
	root.SetHelpCommand(helpCommand(a))
	root.SetHelpCommandGroupID(groupDoors)
	root.SetUsageTemplate(strings.NewReplacer(
		"{{.UseLine}}", "{{if .HasParent}}{{.UseLine}}{{else}}vfsctl [--db FILE] [--branch NAME | --at SNAPSHOT] COMMAND{{end}}",
		"\n  {{.CommandPath}} [command]", "",
		".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", helpWidth),
	).Replace(root.UsageTemplate()))

	cobra.EnableCommandSorting = false
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		reflow(cmd)
		help(cmd, args)
	})
	return root
}

// shellCommands returns the command shell, and inside of a shell the commands that only that has.
func shellCommands(a *cli.App) []*cobra.Command {
	if a.Shell() != nil {
		return shell.Commands(a)
	}
	return []*cobra.Command{shell.Command(a, newRoot)}
}

// helpWidth bounds the lines of a help text, in columns.
const helpWidth = 80

// reflow fits the text of a command into the columns of help. Indented lines stay as they are.
func reflow(cmd *cobra.Command) {
	paragraphs := strings.Split(cmd.Long, "\n\n")
	for i, p := range paragraphs {
		if !strings.HasPrefix(p, " ") {
			paragraphs[i] = human.Wrap(strings.Fields(p), helpWidth-2)
		}
	}
	cmd.Long = strings.Join(paragraphs, "\n\n")
}
