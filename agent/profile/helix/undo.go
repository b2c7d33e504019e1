package helix

import (
	"context"
	"fmt"
	"strings"

	"vfsdb/agent/tool"
	"vfsdb/agent/tool/branches"
	"vfsdb/agent/tool/texts"
)

// undos returns the tools that take calls back.
func undos() []*tool.Tool {
	return []*tool.Tool{
		tool.Steer("undo", `Take back what one call changed, and keep what came later. Else your last call.`,
			tool.Rewrites, undoCall, tool.Title("Undo"), tool.Sequential, tool.Structured),
		tool.Steer("redo", `Take back an undo. Else your last one.`,
			tool.Rewrites, redoCall, tool.Title("Redo"), tool.Sequential, tool.Structured),
	}
}

type undoIn struct {
	Call   int64 `json:"call,omitempty" min:"1"`
	DryRun bool  `json:"dryRun,omitempty" default:"false"`
}

type undoOut struct {
	Call             int64         `json:"call" jsonschema:"that was taken back"`
	Tool             string        `json:"tool,omitempty"`
	Actor            string        `json:"actor,omitempty"`
	By               int64         `json:"by,omitempty" jsonschema:"this call"`
	DryRun           bool          `json:"dryRun,omitempty" jsonschema:"nothing was changed"`
	Changes          []change      `json:"changes" jsonschema:"sorted by path"`
	OmittedEntries   int           `json:"omittedEntries,omitempty"`
	Conflicts        []conflictOut `json:"conflicts" jsonschema:"stay as they are here until resolve"`
	OmittedConflicts int           `json:"omittedConflicts,omitempty"`
	redo             bool
}

func undoCall(ctx context.Context, h *tool.History, in undoIn) (undoOut, error) {
	u, err := branches.Undo(ctx, h, in.Call, in.DryRun)
	return newUndo(h, u, in.DryRun, false), err
}

func redoCall(ctx context.Context, h *tool.History, in undoIn) (undoOut, error) {
	u, err := branches.Redo(ctx, h, in.Call, in.DryRun)
	return newUndo(h, u, in.DryRun, true), err
}

// newUndo returns the result of an undo; an empty one if there is none.
func newUndo(h *tool.History, u *branches.Undone, dry, redo bool) undoOut {
	if u == nil {
		return undoOut{}
	}
	o := undoOut{
		Call: u.Call.ID, Tool: u.Call.Tool, Actor: u.Call.Actor, By: u.By, DryRun: dry,
		Conflicts: conflictsOut(u.Conflicts), OmittedConflicts: u.Omitted, redo: redo,
	}
	o.Changes, o.OmittedEntries = changesOut(h, u.Changes)
	return o
}

func (o undoOut) Parts() []tool.Part {
	changes := texts.Count(len(o.Changes)+o.OmittedEntries, "path", "paths")
	conflicts := texts.Count(len(o.Conflicts)+o.OmittedConflicts, "conflict", "conflicts")

	var line string
	switch {
	case o.DryRun:
		line = fmt.Sprintf("Nothing was changed. To take back call %d changes %s and makes %s.", o.Call, changes, conflicts)
	case o.redo:
		line = fmt.Sprintf("Took back call %d, an undo, by call %d: %s changed, %s.", o.Call, o.By, changes, conflicts)
	default:
		line = fmt.Sprintf("Took back call %d, by call %d: %s changed, %s. To do it again, redo call %d.", o.Call, o.By, changes, conflicts, o.By)
	}
	by := strings.Join(strings.Fields(fmt.Sprintf("call %d %s %s", o.Call, texts.OneLine(o.Tool), texts.OneLine(o.Actor))), " ")
	body := strings.TrimSuffix(by+"\n"+linesOf(o.Changes), "\n")
	parts := []tool.Part{{Line: line, Body: body}}
	return append(parts, partsOf(o.Conflicts, o.OmittedConflicts)...)
}
