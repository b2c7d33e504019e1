package helix

import (
	"context"
	"fmt"
	"time"

	"vfsdb/agent/tool"
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
	Moved     bool   `json:"moved,omitempty" jsonschema:"others changed the workspace meanwhile: id is another branch"`
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
		line += fmt.Sprintf("; the workspace was changed by others in the meantime, so what the command changed is in a branch of its own, ref %s: diff and branch take it", o.ID)
	}
	return []tool.Part{{Line: line, Body: o.Output}}
}

func runCommand(ctx context.Context, h *tool.History, in runIn) (runOut, error) {
	r, ref, err := h.Run(ctx, in.Command, time.Duration(in.Timeout)*time.Second)
	if err != nil {
		return runOut{}, err
	}
	return runOut{
		ID: ref.String(), Output: r.Output, ExitCode: r.ExitCode, Truncated: r.Truncated, TimedOut: r.TimedOut, Moved: r.Moved,
	}, nil
}
