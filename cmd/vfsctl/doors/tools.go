package doors

import (
	"encoding/json"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
)

func toolsCommand(a *cli.App) *cobra.Command {
	f := &toolFlags{}
	cmd := &cobra.Command{
		Use:   "tools [NAME]",
		Short: "List the tools that agents get, or describe one",
		Long: `List the tools of a profile: their names, how much harm they can do, and which permissions they
need. With NAME, print what a model reads about that tool: its description, and the schema of its arguments.
No database is opened.

--policy and --config are YAML files; a tool for which they grant nothing is left out. {{workspace}} in them
is the root.

The profiles are` + strings.Join(profileNames(), ", ") + ".",
		Example: `  vfsctl tools
  vfsctl tools --profile claude-editor
  vfsctl tools workspace_edit_file
  vfsctl tools call workspace_ls '{"path": "/notes"}'`,
		Args:              cli.Args(0, 1),
		ValidArgsFunction: cli.CompleteArgs(f.complete, cli.CompleteNothing),
		RunE: a.Plain(func(cmd *cobra.Command, args []string) error {
			_, b, err := f.box(cmd)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return listTools(a, b.Tools())
			}
			t, err := find(cmd, b, args[0])
			if err != nil {
				return err
			}
			return describeTool(a, t)
		}),
	}
	f.register(cmd)
	cmd.AddCommand(toolsCall(a, f))
	return cmd
}

// A toolJSON is a tool as JSON shows it. Only a tool that is asked for by name has a description and schemas.
type toolJSON struct {
	Name        string              `json:"name"`
	Title       string              `json:"title"`
	Risk        tool.Risk           `json:"risk"`
	Permissions []policy.Permission `json:"permissions"`
	SideEffects []string            `json:"side_effects,omitempty"`
	Hints       hintsJSON           `json:"hints"`
	Sequential  bool                `json:"sequential,omitempty"`
	Description string              `json:"description,omitempty"`
	Input       *jsonschema.Schema  `json:"input_schema,omitempty"`
	Output      *jsonschema.Schema  `json:"output_schema,omitempty"`
}

type hintsJSON struct {
	ReadOnly    bool `json:"read_only"`
	Destructive bool `json:"destructive"`
	Idempotent  bool `json:"idempotent"`
	OpenWorld   bool `json:"open_world"`
}

func newToolJSON(t *tool.Tool) toolJSON {
	return toolJSON{
		Name: t.Name, Title: t.Title, Risk: t.Risk, Permissions: t.Permissions, SideEffects: t.SideEffects,
		Hints: hintsJSON(t.Hints), Sequential: t.Sequential,
	}
}

// hintWords returns the hints of a tool as words.
func hintWords(h tool.Hints) string {
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

var riskStyle = map[tool.Risk]term.Style{tool.Low: term.Plain, tool.Medium: term.Yellow, tool.High: term.Red}

// permissionWords returns permissions as words.
func permissionWords(list []policy.Permission) string {
	words := make([]string, len(list))
	for i, p := range list {
		words[i] = string(p)
	}
	return strings.Join(words, " ")
}

func listTools(a *cli.App, tools []*tool.Tool) error {
	var t term.Table
	t.Head("NAME", "RISK", "HINTS", "PERMISSIONS") // the widest last, so that most lines fit 80 columns
	for _, tool := range tools {
		if a.JSON {
			if err := a.Out.JSON(newToolJSON(tool)); err != nil {
				return err
			}
			continue
		}
		t.Row(term.Cell{Text: tool.Name}, term.Cell{Text: string(tool.Risk), Style: riskStyle[tool.Risk]},
			term.Cell{Text: hintWords(tool.Hints)}, term.Cell{Text: permissionWords(tool.Permissions)})
	}
	if a.JSON {
		return nil
	}
	return t.Print(a.Out)
}

func describeTool(a *cli.App, t *tool.Tool) error {
	if a.JSON {
		j := newToolJSON(t)
		j.Description, j.Input, j.Output = t.Description, t.Input, t.Output
		return a.Out.JSON(j)
	}

	err := a.Out.Fields([][2]string{
		{"tool", t.Name}, {"title", t.Title}, {"risk", string(t.Risk)}, {"needs", permissionWords(t.Permissions)}, {"hints", hintWords(t.Hints)},
	}...)
	if err != nil {
		return err
	}

	schema, err := json.MarshalIndent(t.Input, "", "  ")
	if err != nil {
		return err
	}
	return a.Out.Printf("\n%s\n\n%s\n", human.Wrap(strings.Fields(t.Description), 78), schema)
}
