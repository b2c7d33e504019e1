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
	"vfsdb/agent/tool/kept"
	"vfsdb/snapshot"
)

type snapshotIn struct {
	Name string `json:"name,omitempty"`
	Note string `json:"note,omitempty"`
}

type snapshotOut struct {
	Ref     string    `json:"ref" jsonschema:"pass it to restore, branch or diff"`
	Name    string    `json:"name"`
	Branch  string    `json:"branch"`
	Created time.Time `json:"created"`
	Note    string    `json:"note,omitempty"`
}

func takeSnapshot(ctx context.Context, h *tool.History, in snapshotIn) (snapshotOut, error) {
	if strings.HasPrefix(in.Name, kept.AutoPrefix) {
		return snapshotOut{}, tool.Refuse(syscall.EINVAL, "names that begin with '%s' are reserved for automatic snapshots: choose another", kept.AutoPrefix)
	}
	if len(in.Note) > maxNote {
		return snapshotOut{}, tool.Refuse(syscall.EINVAL, "the note is %d bytes long, above the limit of %d", len(in.Note), maxNote)
	}
	ref, info, err := h.Snapshot(ctx, in.Name, in.Note)
	if err != nil {
		return snapshotOut{}, err
	}
	return snapshotOut{ref.String(), info.Name, info.Branch, info.Created.UTC(), info.Note}, nil
}

// maxNote is the longest note, in bytes: notes count for no quota, and lists show them.
const maxNote = 1000

type refIn struct {
	Ref string `json:"ref"`
}

type restoreIn struct {
	Ref  string `json:"ref"`
	Path string `json:"path,omitempty" jsonschema:"only this file or directory; the rest stays"`
	As   string `json:"as,omitempty" jsonschema:"a copy of it at this path"`
}

type restoreOut struct {
	Ref     string   `json:"ref" jsonschema:"the workspace as it is now"`
	Undo    string   `json:"undo,omitempty" jsonschema:"what it was before: restore this ref to take the restore back"`
	Changes []change `json:"changes,omitempty" jsonschema:"of a path, as diff has them"`
	Equal   bool     `json:"equal,omitempty" jsonschema:"the path was like that already"`
}

func restoreTo(ctx context.Context, h *tool.History, in restoreIn) (restoreOut, error) {
	if in.Path == "" {
		if in.As != "" {
			return restoreOut{}, tool.Refuse(syscall.EINVAL, "as needs a path: only a file or directory is copied")
		}
		now, undo, err := branches.RestoreAll(ctx, h, in.Ref)
		return restoreOut{Ref: now.String(), Undo: undo.String()}, err
	}

	r, err := branches.Restore(ctx, h, in.Ref, in.Path, in.As)
	if err != nil {
		return restoreOut{}, err
	}
	now, err := h.Ref(ctx)
	o := restoreOut{Ref: now.String(), Equal: r.Equal()}
	for _, c := range r.Changes[:min(len(r.Changes), h.Caps().Entries)] {
		o.Changes = append(o.Changes, newChange(c))
	}
	return o, err
}

type listSnapshotsIn struct {
	Limit int `json:"limit,omitempty" min:"1"`
}

type listSnapshotsOut struct {
	Snapshots      []snapshotOut `json:"snapshots" jsonschema:"oldest first"`
	Truncated      bool          `json:"truncated,omitempty"`
	OmittedEntries int           `json:"omittedEntries,omitempty"`
}

func listSnapshots(ctx context.Context, h *tool.History, in listSnapshotsIn) (listSnapshotsOut, error) {
	all, err := h.Snapshots(ctx)
	if err != nil {
		return listSnapshotsOut{}, err
	}
	ref, err := h.Ref(ctx)
	if err != nil {
		return listSnapshotsOut{}, err
	}
	limit := h.Caps().Entries
	if in.Limit > 0 {
		limit = min(limit, in.Limit)
	}
	o := listSnapshotsOut{Snapshots: []snapshotOut{}, OmittedEntries: max(0, len(all)-limit)}
	o.Truncated = o.OmittedEntries > 0
	for _, s := range all[o.OmittedEntries:] {
		ref.Branch, ref.Snapshot = s.Branch, s.Name
		o.Snapshots = append(o.Snapshots, snapshotOut{ref.String(), s.Name, s.Branch, s.Created.UTC(), s.Note})
	}
	return o, nil
}

func deleteSnapshot(ctx context.Context, h *tool.History, in refIn) (doneOut, error) {
	_, err := h.Forget(ctx, in.Ref)
	return doneOut{err == nil}, err
}

type branchIn struct {
	Ref  string `json:"ref,omitempty" jsonschema:"a snapshot, else now"`
	Name string `json:"name,omitempty"`
	Stay bool   `json:"stay,omitempty" default:"false" jsonschema:"only fork"`
}

type branchOut struct {
	Ref    string `json:"ref" jsonschema:"of the new branch"`
	Branch string `json:"branch"`
	On     string `json:"on" jsonschema:"the branch that later calls are of"`
	Left   string `json:"left,omitempty" jsonschema:"ref of the branch that you left, which stays as it is: diff or branch takes it"`
}

func (o branchOut) Parts() []tool.Part {
	line := fmt.Sprintf("Forked branch '%s', ref %s. You stay on '%s'.", o.Branch, o.Ref, o.On)
	if o.On == o.Branch {
		line = fmt.Sprintf("You are on the new branch '%s' now, ref %s.", o.Branch, o.Ref)
	}
	if o.Left != "" {
		line += fmt.Sprintf(" You left %s, which stays as it is: diff and branch take that ref.", o.Left)
	}
	return []tool.Part{{Line: line}}
}

func makeBranch(ctx context.Context, h *tool.History, in branchIn) (branchOut, error) {
	f, err := h.Fork(ctx, in.Ref, in.Name, in.Stay)
	if err != nil {
		return branchOut{}, err
	}
	o := branchOut{Ref: f.Made.String(), Branch: f.Made.Branch, On: f.Left.Branch}
	if f.Moved {
		o.On = f.Made.Branch
		if f.Left.Branch != "" { // else it was a moment of the past
			o.Left = f.Left.String()
		}
	}
	return o, nil
}

type diffIn struct {
	From string `json:"from"`
	To   string `json:"to,omitempty"`
}

type diffOut struct {
	Changes        []change `json:"changes" jsonschema:"sorted by path"`
	Truncated      bool     `json:"truncated,omitempty"`
	OmittedEntries int      `json:"omittedEntries,omitempty"`
}

type change struct {
	Kind snapshot.Kind `json:"kind" enum:"added,removed,modified,type,mode,renamed"`
	Path string        `json:"path"`
	From string        `json:"from,omitempty" jsonschema:"the path before, if it was renamed"`
}

func newChange(c snapshot.Change) change {
	one := change{Kind: c.Kind, Path: policy.Rooted(c.Path)}
	if c.From != "" {
		one.From = policy.Rooted(c.From)
	}
	return one
}

func diffMoments(ctx context.Context, h *tool.History, in diffIn) (diffOut, error) {
	changes, omitted, err := branches.Compare(ctx, h, in.From, in.To, h.Caps().Entries)
	if err != nil {
		return diffOut{}, err
	}
	o := diffOut{Changes: []change{}, OmittedEntries: omitted, Truncated: omitted > 0}
	for _, c := range changes {
		o.Changes = append(o.Changes, newChange(c))
	}
	return o, nil
}
