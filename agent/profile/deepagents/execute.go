package deepagents

import (
	"context"
	"fmt"
	"time"

	"vfsdb/agent/tool"
	"vfsdb/agent/tool/texts"
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
		text += fmt.Sprintf("\n[What the command changed could not come into the branch, and is in the branch %s]", r.Branch)
	}
	if len(r.Conflicts) > 0 {
		text += fmt.Sprintf("\n[Others changed the same files in the meantime, and these stay as the others have them: %s]", texts.Few(tool.RootedAll(r.Conflicts)))
	}
	return tool.Text(text), nil
}
