package deepagents

import (
	"context"
	"fmt"
	"time"

	"vfsdb/agent/tool"
)

type executeIn struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty" min:"1" jsonschema:"seconds"`
}

// execute runs a command. The words after the output are exact.
func execute(ctx context.Context, h *tool.History, in executeIn) (tool.Text, error) {
	r, _, err := h.Run(ctx, in.Command, time.Duration(in.Timeout)*time.Second)
	if err != nil {
		return "", err
	}

	ended := "succeeded"
	if r.ExitCode != 0 {
		ended = "failed"
	}
	text := r.Output + fmt.Sprintf("\n[Command %s with exit code %d]", ended, r.ExitCode)
	if r.Truncated {
		text += "\n[Output was truncated due to size limits]"
	}
	if r.TimedOut {
		text += "\n[Command was ended because it took too long]"
	}
	if r.Moved {
		text += fmt.Sprintf("\n[The files were changed by others in the meantime: what the command changed is in the branch %s]", r.Branch)
	}
	return tool.Text(text), nil
}
