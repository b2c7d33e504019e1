package branches

import (
	"context"
	"slices"
	"strings"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// List lists the branches that tools may look at, oldest first.
func List(ctx context.Context, h *tool.History) ([]vfs.Branch, error) {
	all, err := h.FS().Store().Branches(ctx)
	return slices.DeleteFunc(all, func(of vfs.Branch) bool { return !h.Sees(of) }), err
}

// Compare lists the differences of two moments, as far as the policy shows them; "" is the branch as it is now.
func Compare(ctx context.Context, h *tool.History, from, to string, limit int) (changes []snapshot.Change, omitted int, err error) {
	trees := [2]snapshot.Tree{h.FS(), h.FS()}
	for i, text := range []string{from, to} {
		if text == "" {
			continue
		}
		if trees[i], _, err = h.Moment(ctx, text); err != nil {
			return nil, 0, err
		}
	}

	if err := h.Approve(ctx, policy.List); err != nil {
		return nil, 0, err
	}
	for c, err := range snapshot.Diff(ctx, trees[0], trees[1]) {
		if err != nil {
			return nil, 0, err
		}
		if c, visible := shownOf(h.Policy(), c); visible {
			changes = append(changes, c)
		}
	}

	slices.SortStableFunc(changes, func(a, b snapshot.Change) int { return strings.Compare(a.Path, b.Path) })
	omitted = max(0, len(changes)-limit)
	return changes[:len(changes)-omitted], omitted, nil
}

// shownOf returns the part of a change that the policy shows. A rename from a hidden path is shown as an addition,
// and one to a hidden path as a removal.
func shownOf(p *policy.Policy, c snapshot.Change) (snapshot.Change, bool) {
	from, to := c.From != "" && p.Visible(c.From), p.Visible(c.Path)
	switch {
	case to && c.From != "" && !from:
		return snapshot.Change{Kind: snapshot.Added, Path: c.Path, New: c.New}, true
	case !to && from:
		return snapshot.Change{Kind: snapshot.Removed, Path: c.From, Old: c.Old}, true
	}
	return c, to
}
