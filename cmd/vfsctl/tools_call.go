package main

import (
	"bytes"
	"io"
	"strings"
	"vfsdb/agent"

	"github.com/spf13/cobra"
)

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
		RunE: a.plain(func(cmd *cobra.Command, args []string) error {
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
		}),
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
		return exitFailed // the text says why
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
