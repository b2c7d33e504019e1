package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

func completionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a script that completes commands in a shell",
		Long: `Print a script that teaches a shell to complete commands, flags, and the branches, snapshots and paths
of the database. For bash, the package bash-completion has to be installed.`,
		Example: `  source <(vfsctl completion bash)
  vfsctl completion zsh > "${fpath[1]}/_vfsctl"
  vfsctl completion fish > ~/.config/fish/completions/vfsctl.fish`,
		Args:      cli.Args(1, 1),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE:      a.Plain(func(cmd *cobra.Command, args []string) error { return complete(a, cmd, args[0]) }),
	}
}

// complete prints the script for a shell.
func complete(a *cli.App, cmd *cobra.Command, shell string) error {
	var script bytes.Buffer
	root := cmd.Root()
	write := map[string]func() error{
		"bash":       func() error { return root.GenBashCompletionV2(&script, true) },
		"zsh":        func() error { return root.GenZshCompletion(&script) },
		"fish":       func() error { return root.GenFishCompletion(&script, true) },
		"powershell": func() error { return root.GenPowerShellCompletionWithDesc(&script) },
	}[shell]
	if write == nil {
		return cli.Usage(cmd, "completion knows bash, zsh, fish and powershell, not %q", shell)
	}
	if err := write(); err != nil {
		return fmt.Errorf("completion: %w", err)
	}

	if a.JSON {
		return a.Out.JSON(struct {
			Shell  string `json:"shell"`
			Script string `json:"script"`
		}{shell, script.String()})
	}
	return a.Out.Printf("%s", script.String())
}
