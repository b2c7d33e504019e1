package doors

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"vfsdb/agent"
	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/record"
	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
)

func toolsCall(a *cli.App, f *toolFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "call NAME [JSON|-]",
		Short: "Call a tool, as an agent would",
		Long: `Call a tool, as an agent would, and print what the model would read. The arguments are a JSON
object; - reads them from standard input, and without any there are none. A call that fails exits with 1.

Each run is a session of its own: a call that forks a branch goes there, and the next one starts on --branch
again. A session may look at the branches that it forked. Here it may look at all branches, unless a policy is
given.`,
		Example: `  vfsctl tools call workspace_read_file '{"path": "/notes/a.md"}'
  vfsctl tools call workspace_write_file - < arguments.json
  vfsctl tools call workspace_ls --json | jq .data`,
		Args:              cli.Args(1, 2),
		ValidArgsFunction: cli.CompleteArgs(f.complete, cli.CompleteNothing),
		RunE: a.Plain(func(cmd *cobra.Command, args []string) error {
			config, b, err := f.box(cmd)
			if err != nil {
				return err
			}
			t, err := find(cmd, b, args[0])
			if err != nil {
				return err
			}
			use := cli.Writes
			if t.Hints.ReadOnly {
				use = cli.Reads
			}
			config.Actor = "vfsctl"
			return a.On(use, func(c *cli.Call) error { return callTool(a, c, config) })(cmd, args)
		}),
	}
}

// A resultJSON is the result of a call as JSON shows it.
type resultJSON struct {
	OK    bool         `json:"ok"`
	Text  string       `json:"text"`
	Data  any          `json:"data,omitempty"`
	Media []tool.Media `json:"media,omitempty"`
	Error string       `json:"error,omitempty"`
}

// callTool makes one call in a session of its own.
func callTool(a *cli.App, c *cli.Call, config *tool.Config) error {
	input := []byte(c.Arg(1, "{}"))
	if c.Arg(1, "") == "-" {
		var err error
		if input, err = io.ReadAll(a.In); err != nil {
			return err
		}
	}
	if config.Policy == nil { // an earlier run may have forked the branch of this call
		config.Policy = &policy.Policy{Branches: []string{"*"}}
	}

	b, err := agent.New(c.FS, config)
	if err != nil {
		return err
	}
	r := b.Call(c, c.Args[0], bytes.TrimSpace(input))
	if err := c.Err(); err != nil {
		return err
	}

	// The result is printed before the log is written, which may have to wait for another writer.
	if err := printResult(a, r); err != nil {
		return err
	}
	if err := a.Out.Flush(); err != nil {
		return err
	}
	if err := record.Flush(c, c.FS); err != nil {
		return err
	}

	if on := b.FS().Head(); on != c.FS.Head() {
		a.Warn("an agent would go on at the branch %s; to make the next call there: %s", on, a.Invoke("--branch", on, "tools", "call"))
	}
	if r.Err != nil {
		return cli.ExitFailed // the text has the reason
	}
	return nil
}

func printResult(a *cli.App, r *tool.Result) error {
	if a.JSON {
		j := resultJSON{OK: r.Err == nil, Text: r.Text, Data: r.Data, Media: r.Media}
		if r.Err != nil {
			j.Error = r.Err.Error()
		}
		return a.Out.JSON(j)
	}
	text := r.Text
	if a.Out.TTY {
		text = human.Escape(text)
	}
	if err := a.Out.Printf("%s", text); err != nil {
		return err
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		return a.Out.Printf("\n")
	}
	return nil
}
