package helix

import (
	"context"
	"fmt"
	"time"

	"vfsdb/agent/tool"
	"vfsdb/agent/tool/texts"
)

// programs returns the tools for programs of the host.
func programs() []*tool.Tool {
	return []*tool.Tool{
		tool.Steer("run", `Run a shell command in the workspace. What it changes there comes back in one step.`,
			tool.Runs, runCommand, tool.Title("Run command"), tool.Sequential),
	}
}

type runIn struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty" min:"1" jsonschema:"seconds"`
}

type runOut struct {
	ID        string `json:"id" jsonschema:"ref of the branch that has what the command changed"`
	Output    string `json:"output"`
	ExitCode  int    `json:"exit_code"`
	Truncated bool   `json:"truncated,omitempty"`
	TimedOut  bool   `json:"timed_out,omitempty"`
	Moved     bool   `json:"moved,omitempty" jsonschema:"it could not come into the branch: id is another one"`

	Conflicts []string `json:"conflicts,omitempty" jsonschema:"paths that others changed meanwhile in another way, and which stay so"`
}

func (o runOut) Parts() []tool.Part {
	line := fmt.Sprintf("exit code %d", o.ExitCode)
	if o.TimedOut {
		line = "ended because it took too long; " + line
	}
	if o.Truncated {
		line += "; the middle of the output is left out"
	}
	if o.Moved {
		line += fmt.Sprintf("; what the command changed could not come into the branch, and is in one of its own, ref %s: diff and branch take it", o.ID)
	}
	if n := len(o.Conflicts); n > 0 {
		line += fmt.Sprintf("; others changed %s in the meantime in another way, and what they have stays: see the conflicts", texts.Count(n, "path", "paths"))
	}
	return []tool.Part{{Line: line, Body: o.Output}}
}

func runCommand(ctx context.Context, h *tool.History, in runIn) (runOut, error) {
	r, ref, err := h.Run(ctx, in.Command, time.Duration(in.Timeout)*time.Second)
	if err != nil {
		return runOut{}, err
	}
	return runOut{
		ID: ref.String(), Output: r.Output, ExitCode: r.ExitCode, Truncated: r.Truncated, TimedOut: r.TimedOut, Moved: r.Moved, Conflicts: tool.RootedAll(r.Conflicts),
	}, nil
}
