package doors

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"vfsdb/agent"
	"vfsdb/agent/policy"
	"vfsdb/agent/profile"
	"vfsdb/agent/runner"
	"vfsdb/agent/tool"
	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
)

// toolFlags choose the tools: their profile and their policy, or the file that has both.
type toolFlags struct{ profile, policy, config string }

func (f *toolFlags) register(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.profile, "profile", "", "the tools of the profile `NAME` (default helix)")
	flags.StringVar(&f.policy, "policy", "", "apply the policy in `FILE`")
	flags.StringVar(&f.config, "config", "", "profile, policy and the rest from `FILE`")
	flags.SortFlags = false
	_ = cmd.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions(profileNames(), cobra.ShellCompDirectiveNoFileComp))
}

// templates are the values of the templates in a config or policy file. The workspace is the whole tree.
var templates = map[string]string{"workspace": "/"}

// load returns the configuration that the flags choose.
func (f *toolFlags) load(cmd *cobra.Command) (*tool.Config, error) {
	if f.config != "" {
		for _, other := range []string{"profile", "policy"} {
			if cmd.Flags().Changed(other) {
				return nil, cli.Usage(cmd, "--config has all settings: --%s cannot be given beside it", other)
			}
		}
		config, err := agent.LoadConfig(f.config, templates)
		if err == nil {
			config.Programs = runner.Run
		}
		return config, err
	}

	p, err := profile.Find(f.profile)
	if err != nil {
		return nil, cli.Usage(cmd, "no profile is called %q; there are: %s", f.profile, strings.Join(profileNames(), ", "))
	}
	config := &tool.Config{Profile: p, Programs: runner.Run}
	if f.policy == "" {
		return config, nil
	}

	text, err := os.ReadFile(f.policy)
	if err != nil {
		return nil, err
	}
	if config.Policy, err = policy.Parse(text, templates); err != nil {
		if _, bad := agent.ParseConfig(text, templates); bad == nil {
			return nil, cli.Usage(cmd, "%s is a config, of which a policy is a part: give it with --config", f.policy)
		}
		return nil, fmt.Errorf("%s: %w", f.policy, err)
	}
	return config, nil
}

// box makes the tools without a tree: they can be described, not called.
func (f *toolFlags) box(cmd *cobra.Command) (*tool.Config, *tool.Toolbox, error) {
	config, err := f.load(cmd)
	if err != nil {
		return nil, nil, err
	}
	b, err := agent.New(nil, config)
	return config, b, err
}

// find returns a tool by its name.
func find(cmd *cobra.Command, b *tool.Toolbox, name string) (*tool.Tool, error) {
	t, err := b.Find(name)
	var none *tool.NoToolError
	switch {
	case errors.As(err, &none) && none.Why != "":
		return nil, cli.Usage(cmd, "the tool %q is not here: %s", name, none.Why)
	case err != nil:
		return nil, &cli.UsageError{
			Err:  fmt.Errorf("no tool is called %q; vfsctl tools lists them", name),
			Try:  cmd.CommandPath() + " --help",
			Hint: nearTool(b, name),
		}
	}
	return t, nil
}

// nearTool returns the advice for a word that is no tool: the tools, and the command call, that may be meant.
func nearTool(b *tool.Toolbox, word string) string {
	// The prefix of a workspace is left out, which all names have in common.
	short := func(name string) string {
		if i := strings.LastIndex(name, "__"); i >= 0 {
			return name[i+2:]
		}
		return strings.TrimPrefix(name, "workspace_")
	}

	var near []string
	for _, name := range append(b.Names(), "call") {
		if human.Similar(short(word), short(name)) {
			near = append(near, name)
		}
	}
	return cli.DidYouMean(near)
}

// complete suggests the names of tools.
func (f *toolFlags) complete(cmd *cobra.Command, _ []string, typed string) (all []cobra.Completion, _ cobra.ShellCompDirective) {
	_, b, err := f.box(cmd)
	if err != nil {
		return nil, cli.NoFiles
	}
	for _, t := range b.Tools() {
		if strings.HasPrefix(t.Name, typed) {
			all = append(all, cobra.CompletionWithDesc(t.Name, t.Title))
		}
	}
	return all, cli.NoFiles
}

// profileNames returns the names of all profiles.
func profileNames() (names []string) {
	for _, p := range profile.All() {
		names = append(names, p.Name)
	}
	return names
}
