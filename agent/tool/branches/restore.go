package branches

import (
	"context"
	"path"
	"strings"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/hooks"
	"vfsdb/snapshot"
	"vfsdb/undo"
	"vfsdb/vfs"
)

// Restore brings one file or directory of a moment back into the branch where the tools stand, and leaves the rest: to its own
// path, or to another one if as names it. The policy has to let tools read what they bring back, and write all that this
// changes.
func Restore(ctx context.Context, h *tool.History, ref, name, as string) (*snapshot.PiecesResult, error) {
	tree, _, err := h.Moment(ctx, ref)
	if err != nil {
		return nil, err
	}
	p := snapshot.Piece{From: tree}
	if p.Path, err = readable(ctx, h, tree, name); err != nil {
		return nil, err
	}
	if as != "" {
		if p.To, err = h.Locate(as); err != nil {
			return nil, err
		}
	}
	if err := h.Approve(ctx, policy.Snapshot, policy.Read, policy.Write, policy.Delete); err != nil {
		return nil, err
	}
	if err := undo.Settle(ctx, h.FS()); err != nil {
		return nil, err
	}

	var r *snapshot.PiecesResult
	err = h.Update(ctx, "restore", func(tx *vfs.Tx) (err error) {
		if p.To != "" { // what lies in a directory that is not granted must not show by the error
			if at, err := tx.Resolve(p.To, false); err == nil {
				if err := h.Policy().MayUseTree(policy.Write, at); err != nil {
					return err
				}
			}
		}
		if r, err = snapshot.RestorePiecesIn(tx, []snapshot.Piece{p}); err != nil {
			return err
		}
		return mayRestore(h, r.Changes)
	})
	if err != nil {
		return nil, err
	}
	if !r.Equal() {
		h.Hear(hooks.Event{Kind: "restore", Name: ref})
	}
	return r, nil
}

// RestoreAll brings the whole branch back to a moment, if the policy lets tools write all paths that this changes, and leave all
// that it brings. It returns the branch, and the snapshot of its state before.
func RestoreAll(ctx context.Context, h *tool.History, ref string) (now, before tool.Ref, err error) {
	tree, _, err := h.Moment(ctx, ref)
	if err != nil {
		return tool.Ref{}, tool.Ref{}, err
	}
	if err := h.Approve(ctx, policy.Snapshot, policy.Write, policy.Delete); err != nil {
		return tool.Ref{}, tool.Ref{}, err
	}
	if now, err = h.Ref(ctx); err != nil { // once all is committed nothing may fail any more
		return tool.Ref{}, tool.Ref{}, err
	}

	var undo snapshot.Info
	err = h.Update(ctx, "restore", func(tx *vfs.Tx) (err error) {
		now.Branch = h.FS().Head() // the tools may have moved
		undo, err = snapshot.RestoreIfIn(tx, tree, "", "before restore of "+snapshot.Label(tree), func(changes []snapshot.Change) error {
			return mayRestore(h, changes)
		})
		return err
	})
	if err != nil {
		return tool.Ref{}, tool.Ref{}, err
	}
	h.Hear(hooks.Event{Kind: "restore", Name: ref})
	before = now
	before.Snapshot = undo.Name
	return now, before, nil
}

// mayRestore refuses changes of paths that the policy protects, and files beyond the sizes that it lets tools leave.
func mayRestore(h *tool.History, changes []snapshot.Change) error {
	if err := h.MayChange(changes); err != nil {
		return err
	}
	p := h.Policy()
	for _, c := range changes {
		if c.New == nil || !c.New.Mode().IsRegular() || c.Old != nil && c.Old.SameContent(c.New) {
			continue
		}
		for _, limit := range []policy.Size{p.MaxFileSize, p.MaxWriteSize} {
			if size := c.New.Size(); limit > 0 && size > int64(limit) {
				return &policy.SizeError{Path: policy.Rooted(c.Path), Size: size, Max: int64(limit)}
			}
		}
	}
	return nil
}

// readable returns the path that a model means in another tree, if the policy lets tools read it there, with all below.
func readable(ctx context.Context, h *tool.History, tree snapshot.Tree, name string) (string, error) {
	full, err := h.Locate(name)
	if err != nil {
		return "", err
	}
	written := strings.TrimPrefix(path.Clean(full), "/")
	if err := h.Policy().MayUseTree(policy.Read, written); err != nil && written != "" {
		return "", err
	}
	at, err := tree.Tree().Resolve(ctx, full, false)
	if err != nil {
		return "", err
	}
	return "/" + at, h.Policy().MayUseTree(policy.Read, at)
}
