package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"vfsdb/agent"
)

// toolFlags say which tools are meant.
type toolFlags struct{ profile, policy, config string }

func (f *toolFlags) register(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.profile, "profile", "", "the tools of the profile `NAME` (default helix)")
	flags.StringVar(&f.policy, "policy", "", "what the policy in `FILE` allows")
	flags.StringVar(&f.config, "config", "", "profile, policy and the rest from `FILE`")
	flags.SortFlags = false
	_ = cmd.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions(profileNames(), cobra.ShellCompDirectiveNoFileComp))
}

// templates are what stands for the templates of a config or policy file: the workspace is the whole tree.
var templates = map[string]string{"workspace": "/"}

// load returns what the flags say.
func (f *toolFlags) load(cmd *cobra.Command) (*agent.Config, error) {
	if f.config != "" {
		for _, other := range []string{"profile", "policy"} {
			if cmd.Flags().Changed(other) {
				return nil, usage(cmd, "--config says all: --%s cannot stand beside it", other)
			}
		}
		return agent.LoadConfig(f.config, templates)
	}
	p, err := agent.FindProfile(f.profile)
	if err != nil {
		return nil, usage(cmd, "no profile is called %q; there are: %s", f.profile, strings.Join(profileNames(), ", "))
	}
	config := &agent.Config{Profile: p}
	if f.policy == "" {
		return config, nil
	}
	text, err := os.ReadFile(f.policy)
	if err != nil {
		return nil, err
	}
	if config.Policy, err = agent.ParsePolicy(text, templates); err != nil {
		if _, bad := agent.ParseConfig(text, templates); bad == nil {
			return nil, usage(cmd, "%s is a config, of which a policy is a part: give it with --config", f.policy)
		}
		return nil, fmt.Errorf("%s: %w", f.policy, err)
	}
	return config, nil
}

// box makes the tools, on no tree.
func (f *toolFlags) box(cmd *cobra.Command) (*agent.Config, *agent.Toolbox, error) {
	config, err := f.load(cmd)
	if err != nil {
		return nil, nil, err
	}
	b, err := agent.New(nil, config)
	return config, b, err
}

// find returns a tool by its name.
func find(cmd *cobra.Command, b *agent.Toolbox, name string) (*agent.Tool, error) {
	t, err := b.Find(name)
	var none *agent.NoToolError
	switch {
	case errors.As(err, &none) && none.Why != "":
		return nil, usage(cmd, "the tool %q is not here: %s", name, none.Why)
	case err != nil:
		return nil, usage(cmd, "no tool is called %q; vfsctl tools lists them", name)
	}
	return t, nil
}

// complete suggests names of tools.
func (f *toolFlags) complete(cmd *cobra.Command, _ []string, typed string) (all []cobra.Completion, _ cobra.ShellCompDirective) {
	_, b, err := f.box(cmd)
	if err != nil {
		return nil, noFiles
	}
	for _, t := range b.Tools() {
		if strings.HasPrefix(t.Name, typed) {
			all = append(all, cobra.CompletionWithDesc(t.Name, t.Title))
		}
	}
	return all, noFiles
}

func (a *app) tools() *cobra.Command {
	f := &toolFlags{}
	cmd := &cobra.Command{
		Use:   "tools [NAME]",
		Short: "List the tools that agents get, or describe one",
		Long: `List the tools of a profile: their names, how much harm they can do, and which permissions they need. With NAME,
print what a model is told of that tool: its description, and the schema of its arguments. No database is opened.

--policy and --config are YAML files; a tool that they grant nothing of is not there. {{workspace}} in them is the root.

The profiles are ` + strings.Join(profileNames(), ", ") + ".",
		Example: `  vfsctl tools
  vfsctl tools --profile claude-editor
  vfsctl tools workspace_edit_file
  vfsctl tools call workspace_ls '{"path": "/notes"}'`,
		Args:              args(0, 1),
		ValidArgsFunction: completeArgs(f.complete, completeNothing),
		RunE: a.plain(func(cmd *cobra.Command, args []string) error {
			_, b, err := f.box(cmd)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.listTools(b.Tools())
			}
			t, err := find(cmd, b, args[0])
			if err != nil {
				return err
			}
			return a.describeTool(t)
		}),
	}
	f.register(cmd)
	cmd.AddCommand(a.toolsCall(f))
	return cmd
}

// A toolJSON is a tool as JSON shows it. Descriptions and schemas are only told of a tool that was asked for.
type toolJSON struct {
	Name        string             `json:"name"`
	Title       string             `json:"title"`
	Risk        agent.Risk         `json:"risk"`
	Permissions []agent.Permission `json:"permissions"`
	SideEffects []string           `json:"side_effects,omitempty"`
	Hints       hintsJSON          `json:"hints"`
	Sequential  bool               `json:"sequential,omitempty"`
	Description string             `json:"description,omitempty"`
	Input       *jsonschema.Schema `json:"input_schema,omitempty"`
	Output      *jsonschema.Schema `json:"output_schema,omitempty"`
}

type hintsJSON struct {
	ReadOnly    bool `json:"read_only"`
	Destructive bool `json:"destructive"`
	Idempotent  bool `json:"idempotent"`
	OpenWorld   bool `json:"open_world"`
}

func newToolJSON(t *agent.Tool) toolJSON {
	return toolJSON{
		Name: t.Name, Title: t.Title, Risk: t.Risk, Permissions: t.Permissions, SideEffects: t.SideEffects,
		Hints: hintsJSON(t.Hints), Sequential: t.Sequential,
	}
}

// hintWords are the hints of a tool for people.
func hintWords(h agent.Hints) string {
	var words []string
	for _, w := range []struct {
		is   bool
		word string
	}{{h.ReadOnly, "read-only"}, {h.Destructive, "destructive"}, {h.Idempotent, "idempotent"}, {h.OpenWorld, "open world"}} {
		if w.is {
			words = append(words, w.word)
		}
	}
	return strings.Join(words, ", ")
}

var riskStyle = map[agent.Risk]style{agent.Low: plain, agent.Medium: yellow, agent.High: red}

func permissionWords(list []agent.Permission) string {
	words := make([]string, len(list))
	for i, p := range list {
		words[i] = string(p)
	}
	return strings.Join(words, " ")
}

func (a *app) listTools(tools []*agent.Tool) error {
	var t table
	t.head("NAME", "RISK", "HINTS", "PERMISSIONS") // the widest last, so that most lines fit 80 columns
	for _, tool := range tools {
		if a.json {
			if err := a.out.json(newToolJSON(tool)); err != nil {
				return err
			}
			continue
		}
		t.row(cell{text: tool.Name}, cell{text: string(tool.Risk), style: riskStyle[tool.Risk]},
			cell{text: hintWords(tool.Hints)}, cell{text: permissionWords(tool.Permissions)})
	}
	if a.json {
		return nil
	}
	return t.print(a.out)
}

func (a *app) describeTool(t *agent.Tool) error {
	if a.json {
		j := newToolJSON(t)
		j.Description, j.Input, j.Output = t.Description, t.Input, t.Output
		return a.out.json(j)
	}
	for _, f := range [][2]string{
		{"tool", t.Name}, {"title", t.Title}, {"risk", string(t.Risk)}, {"needs", permissionWords(t.Permissions)}, {"hints", hintWords(t.Hints)},
	} {
		if f[1] == "" {
			continue
		}
		if err := a.field(f[0], f[1]); err != nil {
			return err
		}
	}
	schema, err := json.MarshalIndent(t.Input, "", "  ")
	if err != nil {
		return err
	}
	return a.out.printf("\n%s\n\n%s\n", wrap(strings.Fields(t.Description), 78), schema)
}

func (a *app) toolsCall(f *toolFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "call NAME [JSON|-]",
		Short: "Call a tool, as an agent would",
		Long: `Call a tool, as an agent would, and print what the model would read. The arguments are a JSON object; - reads them
from standard input, and without any there are none. A call that fails exits with 1.

Each run is a session of its own: a call that forks a branch goes there, and the next one starts on --branch again. A
session may look at the branches that it forked; here, at all of them, unless a policy says which.`,
		Example: `  vfsctl tools call workspace_read_file '{"path": "/notes/a.md"}'
  vfsctl tools call workspace_write_file - < arguments.json
  vfsctl tools call workspace_ls --json | jq .data`,
		Args:              args(1, 2),
		ValidArgsFunction: completeArgs(f.complete, completeNothing),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.started = true
			config, b, err := f.box(cmd)
			if err != nil {
				return err
			}
			t, err := find(cmd, b, args[0])
			if err != nil {
				return err
			}
			use := writes
			if t.Hints.ReadOnly {
				use = reads
			}
			config.Actor = "vfsctl"
			return a.on(use, func(c *call) error { return a.callTool(c, config) })(cmd, args)
		},
	}
}

// A resultJSON is what a call gave back.
type resultJSON struct {
	OK    bool          `json:"ok"`
	Text  string        `json:"text"`
	Data  any           `json:"data,omitempty"`
	Media []agent.Media `json:"media,omitempty"`
	Error string        `json:"error,omitempty"`
}

func (a *app) callTool(c *call, config *agent.Config) error {
	input := []byte(c.arg(1, "{}"))
	if c.arg(1, "") == "-" {
		var err error
		if input, err = io.ReadAll(a.in); err != nil {
			return err
		}
	}
	if config.Policy == nil { // an earlier run may have forked the branch that this one is about
		config.Policy = &agent.Policy{Branches: []string{"*"}}
	}
	b, err := agent.New(c.fsys, config)
	if err != nil {
		return err
	}
	r := b.Call(c, c.args[0], bytes.TrimSpace(input))
	if err := c.Err(); err != nil {
		return err
	}
	if err := a.printResult(r); err != nil {
		return err
	}
	if err := a.out.Flush(); err != nil { // the log may have to wait for somebody who writes
		return err
	}
	if err := agent.FlushLog(c, c.fsys); err != nil {
		return err
	}
	if on := b.FS().Head(); on != c.fsys.Head() {
		a.warn("an agent would go on at the branch %s; to make the next call there: %s", on, a.invoke("--branch", on, "tools", "call"))
	}
	if r.Err != nil {
		return &status{code: exitFailed} // the text says why
	}
	return nil
}

func (a *app) printResult(r *agent.Result) error {
	if a.json {
		j := resultJSON{OK: r.Err == nil, Text: r.Text, Data: r.Data, Media: r.Media}
		if r.Err != nil {
			j.Error = r.Err.Error()
		}
		return a.out.json(j)
	}
	text := r.Text
	if a.out.tty {
		text = printable(text)
	}
	if err := a.out.printf("%s", text); err != nil {
		return err
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		return a.out.printf("\n")
	}
	return nil
}
