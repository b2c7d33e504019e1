package branches

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/hooks"
	"vfsdb/merge"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A Merged is what a merge did, or would do.
type Merged struct {
	From, Into  tool.Ref
	Undo        tool.Ref // the state before; zero after a dry run, and if nothing was changed
	UpToDate    bool
	FastForward bool
	Changes     []snapshot.Change // sorted by path
	Conflicts   []Conflict        // the first MaxConflicts that the merge adds
	Omitted     int               // further ones
}

// errDry ends the transaction of a dry run.
var errDry = errors.New("dry run")

// Merge merges a moment into the branch where the tools stand; or what stands there into another branch, if into names one
// that the tools stood on or forked. from is "" for the branch where they stand. A dry run changes nothing. The policy has
// to allow all that the merge changes. A merge into another branch must not make conflicts: nothing there could resolve
// them.
func Merge(ctx context.Context, h *tool.History, from, into string, dry bool) (*Merged, error) {
	target, source, m, err := sides(ctx, h, from, into)
	if err != nil {
		return nil, err
	}
	perms := []policy.Permission{policy.List}
	if !dry {
		perms = []policy.Permission{policy.Snapshot, policy.Write, policy.Delete}
	}
	if err := h.Approve(ctx, perms...); err != nil {
		return nil, err
	}

	var list []Conflict
	err = target.Update(ctx, "merge", func(tx *vfs.Tx) error {
		r, err := merge.IntoIn(tx, source, nil)
		if err != nil {
			return err
		}
		if err := mayMerge(target, r.Changes, r.Added); err != nil {
			return err
		}
		if !dry && target != h && len(r.Added) > 0 {
			return tool.Refuse(syscall.ESTALE, "it would make %d conflicts in '%s', and nothing was changed. Merge '%s' into your branch first, resolve the conflicts there, and then merge into '%s'",
				len(r.Added), m.Into.Branch, m.Into.Branch, m.Into.Branch)
		}

		m.UpToDate, m.FastForward, m.Changes = r.UpToDate, r.FastForward, r.Changes
		if list, m.Omitted, err = describe(tx, target, r.Added); err != nil {
			return err
		}
		if dry {
			return errDry
		}
		if r.Undo != "" {
			m.Undo = tool.Ref{DB: m.Into.DB, Branch: m.Into.Branch, Snapshot: r.Undo}
		}
		return nil
	})
	if err != nil && err != errDry {
		return nil, err
	}

	if err == nil && !m.UpToDate {
		h.Hear(hooks.Event{Kind: "merge", Name: m.From.Branch})
	}
	slices.SortStableFunc(m.Changes, func(a, b snapshot.Change) int { return strings.Compare(a.Path, b.Path) })
	m.Conflicts = list
	return m, blame(ctx, h, target.FS(), source, m.Conflicts)
}

// sides finds the two sides of a merge.
func sides(ctx context.Context, h *tool.History, from, into string) (target *tool.History, source snapshot.Tree, m *Merged, err error) {
	if from == "" && into == "" {
		return nil, nil, nil, tool.Refuse(syscall.EINVAL, "name the branch or snapshot to merge in ref, or in into the branch that gets this one")
	}
	m = &Merged{}
	if m.From, err = h.Ref(ctx); err != nil {
		return nil, nil, nil, err
	}
	target, source, m.Into = h, h.FS(), m.From

	if from != "" {
		if source, m.From, err = h.Moment(ctx, from); err != nil {
			return nil, nil, nil, err
		}
	}
	if into != "" {
		tree, ref, err := h.Moment(ctx, into)
		switch {
		case err != nil:
			return nil, nil, nil, err
		case ref.Snapshot != "":
			return nil, nil, nil, tool.Refuse(syscall.EROFS, "'%s' is a snapshot, which never changes: into has to be a branch", into)
		case tree.Tree().Frozen():
			return nil, nil, nil, tool.Refuse(syscall.EROFS, "'%s' is a moment of the past, which never changes: into has to be a branch", into)
		case tree.Tree().Moment() != h.FS().Moment():
			if target, err = h.On(tree.Tree()); err != nil {
				return nil, nil, nil, err
			}
		}
		m.Into = ref
	}
	if source.Tree().Moment() == target.FS().Moment() {
		return nil, nil, nil, tool.Refuse(syscall.EINVAL, "'%s' cannot be merged into itself", m.Into.Branch)
	}
	return target, source, m, nil
}

// mayMerge refuses changes and conflicts at paths which the policy protects.
func mayMerge(h *tool.History, changes []snapshot.Change, added []merge.Conflict) error {
	if err := h.MayChange(changes); err != nil {
		return err
	}
	for _, c := range added {
		if !h.Policy().Visible(c.Path) {
			return &policy.Error{Permission: policy.Write, Why: "it would conflict at paths that this workspace does not grant"}
		}
	}
	return nil
}

// Conflicts lists the conflicts of the branch that the policy shows: the first MaxConflicts, and how many others there are.
func Conflicts(ctx context.Context, h *tool.History) (list []Conflict, omitted int, err error) {
	if err := h.Approve(ctx, policy.List); err != nil {
		return nil, 0, err
	}
	err = h.FS().View(ctx, func(tx *vfs.Tx) error {
		all, err := merge.ConflictsIn(tx)
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(c merge.Conflict) bool { return !h.Policy().Visible(c.Path) })
		list, omitted, err = describe(tx, h, all)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return list, omitted, blame(ctx, h, h.FS(), nil, list)
}

// Resolve decides about a file in conflict, and returns the number of conflicts that the policy shows and that are left. A
// file that is not in conflict, or that the policy does not show, is EINVAL.
func Resolve(ctx context.Context, h *tool.History, path string, take merge.Take) (left int, err error) {
	at, err := h.Locate(path)
	if err != nil {
		return 0, err
	}
	cleaned, err := policy.Clean([]string{at})
	if err != nil {
		return 0, err
	}
	at = cleaned[0]
	if size, most := int64(len(take.Data)), int64(h.Policy().MaxFileSize); most > 0 && size > most {
		return 0, &policy.SizeError{Path: policy.Rooted(at), Size: size, Max: most}
	}
	if err := h.Approve(ctx, policy.Write, policy.Delete); err != nil {
		return 0, err
	}

	err = h.Update(ctx, "resolve", func(tx *vfs.Tx) error {
		all, err := merge.ConflictsIn(tx)
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(c merge.Conflict) bool { return !h.Policy().Visible(c.Path) })
		if !slices.ContainsFunc(all, func(c merge.Conflict) bool { return c.Path == at }) {
			return tool.Refuse(syscall.EINVAL, "'%s' is not in conflict", policy.Rooted(at))
		}

		for _, perm := range []policy.Permission{policy.Write, policy.Delete} {
			if err := h.Policy().MayUseTree(perm, at); err != nil {
				return err
			}
		}
		left = len(all) - 1
		return merge.ResolveIn(tx, at, take)
	})
	if err != nil {
		return 0, fmt.Errorf("resolve: %w", err)
	}
	return left, nil
}
