package helix

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/branches"
	"vfsdb/agent/tool/texts"
	"vfsdb/merge"
	"vfsdb/snapshot"
)

// merges returns the tools that bring branches together.
func merges() []*tool.Tool {
	return []*tool.Tool{
		tool.Steer("merge", `Merge another branch into this one, or this one into another. Shows what would happen; dryRun false does it.`,
			tool.Rewrites, mergeBranch, tool.Title("Merge"), tool.Sequential, tool.Structured),
		tool.Steer("conflicts", `Show what merges could not decide: each side's lines, and who made them.`,
			tool.Looks, listConflicts, tool.Title("List conflicts"), tool.Needs(policy.Snapshot, policy.Read), tool.Structured),
		tool.Steer("resolve", `Decide a conflict: take a side, or give the content.`,
			tool.Rewrites, resolveConflict, tool.Title("Resolve conflict"), tool.Sequential),
	}
}

type mergeIn struct {
	Ref    string `json:"ref,omitempty" jsonschema:"to merge, else this branch"`
	Into   string `json:"into,omitempty" jsonschema:"a branch you were on or forked"`
	DryRun bool   `json:"dryRun,omitempty" default:"true"`
}

type mergeOut struct {
	From             string        `json:"from" jsonschema:"ref of what was merged"`
	Into             string        `json:"into"`
	DryRun           bool          `json:"dryRun,omitempty" jsonschema:"nothing was changed"`
	UpToDate         bool          `json:"upToDate,omitempty"`
	FastForward      bool          `json:"fastForward,omitempty"`
	Undo             string        `json:"undo,omitempty" jsonschema:"what it was before: restore this ref to take the merge back"`
	Changes          []change      `json:"changes" jsonschema:"sorted by path"`
	OmittedEntries   int           `json:"omittedEntries,omitempty"`
	Conflicts        []conflictOut `json:"conflicts" jsonschema:"stay as they are here until resolve"`
	OmittedConflicts int           `json:"omittedConflicts,omitempty"`
}

type conflictOut struct {
	Path         string    `json:"path"`
	Kind         string    `json:"kind" enum:"content,name,attributes,add/add,edit/delete,delete/edit"`
	Parts        []string  `json:"parts"`
	Base         sideOut   `json:"base"`
	Ours         sideOut   `json:"ours"`
	Theirs       sideOut   `json:"theirs"`
	Hunks        []hunkOut `json:"hunks,omitempty"`
	OmittedHunks int       `json:"omittedHunks,omitempty"`
	Why          string    `json:"why,omitempty" jsonschema:"there are no hunks"`
}

type sideOut struct {
	Label string `json:"label,omitempty"`
	Gone  bool   `json:"gone,omitempty" jsonschema:"this side does not have the file"`
	Size  int64  `json:"size,omitempty"`
	By    *byOut `json:"by,omitempty"`
}

type byOut struct {
	Call  int64     `json:"call,omitempty"`
	Seq   int64     `json:"seq"`
	At    time.Time `json:"at"`
	Actor string    `json:"actor,omitempty"`
	Tool  string    `json:"tool,omitempty"`
}

type hunkOut struct {
	Line   int    `json:"line" jsonschema:"of ours"`
	Base   string `json:"base"`
	Ours   string `json:"ours"`
	Theirs string `json:"theirs"`
	marked string
}

func mergeBranch(ctx context.Context, h *tool.History, in mergeIn) (mergeOut, error) {
	m, err := branches.Merge(ctx, h, in.Ref, in.Into, in.DryRun)
	if err != nil {
		return mergeOut{}, err
	}
	o := mergeOut{
		From: m.From.String(), Into: m.Into.String(), DryRun: in.DryRun, UpToDate: m.UpToDate, FastForward: m.FastForward,
		Conflicts: conflictsOut(m.Conflicts), OmittedConflicts: m.Omitted,
	}
	if m.Undo.Snapshot != "" {
		o.Undo = m.Undo.String()
	}
	o.Changes, o.OmittedEntries = changesOut(h, m.Changes)
	return o, nil
}

func (o mergeOut) Parts() []tool.Part {
	changes := texts.Count(len(o.Changes)+o.OmittedEntries, "path", "paths")
	conflicts := texts.Count(len(o.Conflicts)+o.OmittedConflicts, "conflict", "conflicts")
	var line string
	switch {
	case o.UpToDate:
		line = fmt.Sprintf("%s has all of %s already: nothing was changed.", o.Into, o.From)
	case o.DryRun:
		line = fmt.Sprintf("Nothing was changed yet. To merge %s into %s changes %s and makes %s. Call again with dryRun false to do it.", o.From, o.Into, changes, conflicts)
	default:
		line = fmt.Sprintf("Merged %s into %s: %s changed, %s. To take it back, restore %s.", o.From, o.Into, changes, conflicts, o.Undo)
	}

	parts := []tool.Part{{Line: line, Body: linesOf(o.Changes)}}
	return append(parts, partsOf(o.Conflicts, o.OmittedConflicts)...)
}

// changesOut returns as many changes as the caps allow, and how many others there are.
func changesOut(h *tool.History, list []snapshot.Change) (out []change, omitted int) {
	out = []change{}
	for _, c := range list[:min(len(list), h.Caps().Entries)] {
		out = append(out, newChange(c))
	}
	return out, len(list) - len(out)
}

// linesOf shows each change as a line.
func linesOf(list []change) string {
	var lines []string
	for _, c := range list {
		line := fmt.Sprintf("%s %s", c.Kind, texts.OneLine(c.Path))
		if c.From != "" {
			line += " from " + texts.OneLine(c.From)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

type conflictsOutAll struct {
	Conflicts        []conflictOut `json:"conflicts" jsonschema:"by path; each file stands as ours has it"`
	OmittedConflicts int           `json:"omittedConflicts,omitempty" jsonschema:"ask again once these are resolved"`
}

func listConflicts(ctx context.Context, h *tool.History, _ struct{}) (conflictsOutAll, error) {
	list, omitted, err := branches.Conflicts(ctx, h)
	if err != nil {
		return conflictsOutAll{}, err
	}
	return conflictsOutAll{conflictsOut(list), omitted}, nil
}

func (o conflictsOutAll) Parts() []tool.Part {
	line := texts.Count(len(o.Conflicts)+o.OmittedConflicts, "conflict", "conflicts")
	return append([]tool.Part{{Line: line}}, partsOf(o.Conflicts, o.OmittedConflicts)...)
}

func conflictsOut(list []branches.Conflict) []conflictOut {
	out := []conflictOut{}
	for _, c := range list {
		one := conflictOut{
			Path: c.Path, Kind: c.Kind, Parts: c.Parts, OmittedHunks: c.Omitted, Why: c.Why,
			Base: newSide(c.Sides[merge.Base]), Ours: newSide(c.Sides[merge.Ours]), Theirs: newSide(c.Sides[merge.Theirs]),
		}
		for _, hunk := range c.Hunks {
			one.Hunks = append(one.Hunks, hunkOut{hunk.Line, hunk.Base, hunk.Ours, hunk.Theirs, hunk.Marked})
		}
		out = append(out, one)
	}
	return out
}

func newSide(s branches.State) sideOut {
	o := sideOut{Label: s.Label, Gone: s.Info == nil}
	if s.Info != nil {
		o.Size = s.Info.Size()
	}
	if s.By != nil {
		o.By = &byOut{s.By.Call, s.By.Seq, s.By.At, s.By.Actor, s.By.Tool}
	}
	return o
}

// partsOf shows each conflict as a part: who made the sides, then the lines between marks.
func partsOf(list []conflictOut, omitted int) []tool.Part {
	var parts []tool.Part
	for i, c := range list {
		var body strings.Builder
		fmt.Fprintf(&body, "%s\nours: %s\ntheirs: %s\n", texts.OneLine(c.Path), c.Ours.line(), c.Theirs.line())
		for _, hunk := range c.Hunks {
			fmt.Fprintf(&body, "line %d:\n%s", hunk.Line, hunk.marked)
			if !strings.HasSuffix(hunk.marked, "\n") {
				body.WriteByte('\n')
			}
		}

		line := fmt.Sprintf("Conflict %d of %d (%s)", i+1, len(list)+omitted, c.Kind)
		switch {
		case c.Why != "":
			line += ": " + c.Why
		case c.OmittedHunks > 0:
			line += fmt.Sprintf(": %s more not shown", texts.Count(c.OmittedHunks, "place", "places"))
		}
		parts = append(parts, tool.Part{Line: line, Ref: c.Path, Body: strings.TrimSuffix(body.String(), "\n")})
	}

	if omitted > 0 {
		parts = append(parts, tool.Part{Line: fmt.Sprintf("%s more not shown: call conflicts once these are resolved", texts.Count(omitted, "conflict", "conflicts"))})
	}
	return parts
}

// line describes a side in one line.
func (s sideOut) line() string {
	words := []string{texts.OneLine(s.Label)}
	if s.Gone {
		words = append(words, "does not have it")
	} else {
		words = append(words, texts.Count(int(s.Size), "byte", "bytes"))
	}
	if s.By != nil {
		by := "by"
		if s.By.Call != 0 {
			by = fmt.Sprintf("by call %d", s.By.Call)
		}
		words = append(words, strings.TrimSpace(strings.Join([]string{by, texts.OneLine(s.By.Tool), texts.OneLine(s.By.Actor)}, " ")), s.By.At.Format(time.DateTime))
	}
	return strings.Join(words, ", ")
}

type resolveIn struct {
	Path    string  `json:"path"`
	Take    string  `json:"take,omitempty" enum:"ours,theirs,base"`
	Content *string `json:"content,omitempty"`
}

type resolveOut struct {
	Path string `json:"path"`
	Left int    `json:"left" jsonschema:"conflicts that are left"`
}

func (o resolveOut) Parts() []tool.Part {
	line := "resolved; no conflict is left"
	if o.Left > 0 {
		line = fmt.Sprintf("resolved; left: %s", texts.Count(o.Left, "conflict", "conflicts"))
	}
	return []tool.Part{{Line: line}}
}

func resolveConflict(ctx context.Context, h *tool.History, in resolveIn) (resolveOut, error) {
	if (in.Take == "") == (in.Content == nil) {
		return resolveOut{}, tool.Refuse(syscall.EINVAL, "give either take or content")
	}
	take := merge.Take{Side: map[string]merge.Side{"base": merge.Base, "ours": merge.Ours, "theirs": merge.Theirs}[in.Take]}
	if in.Content != nil {
		take.Data = []byte(*in.Content)
	}
	left, err := branches.Resolve(ctx, h, in.Path, take)
	return resolveOut{in.Path, left}, err
}
