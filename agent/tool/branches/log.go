package branches

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/vfs"
)

// logPage is how many events are read at a time while those that the policy shows are looked for.
const logPage = 1000

// Log returns events of the branch, newest first: up to limit events with a lower number than before (0 is all), at a
// path or below it ("" is everything), as far as the policy shows them. more reports whether there are others.
func Log(ctx context.Context, h *tool.History, path string, before int64, limit int) (events []vfs.Event, more bool, err error) {
	o := vfs.LogOptions{Until: before, Newest: true, Max: logPage}
	if path != "" {
		if o.Path, err = h.Locate(path); err != nil {
			return nil, false, err
		}
		cleaned, err := policy.Clean([]string{o.Path})
		if err != nil {
			return nil, false, err
		}
		if err := h.Policy().MayUse(policy.List, cleaned[0]); err != nil {
			return nil, false, err
		}
	}

	if err := h.Approve(ctx, policy.List); err != nil {
		return nil, false, err
	}
	all, err := List(ctx, h)
	if err != nil {
		return nil, false, err
	}

	granted := map[string]bool{}
	for _, of := range all {
		granted[of.Name] = true
	}

	for {
		page, err := h.FS().Log(ctx, &o)
		if err != nil {
			return nil, false, err
		}
		for _, e := range page {
			shown, ok := shownEvent(h.Policy(), e, granted)
			switch {
			case !ok:
			case len(events) == limit:
				return events, true, nil
			default:
				events = append(events, shown)
			}
		}
		if len(page) < logPage {
			return events, false, nil
		}
		o.Until = page[len(page)-1].Seq
	}
}

// shownEvent returns the part of an event that the policy shows: visible paths, and events about the whole of a
// branch that is granted. Inode numbers are left out: they may be those of files and directories that are not visible.
func shownEvent(p *policy.Policy, e vfs.Event, granted map[string]bool) (vfs.Event, bool) {
	e.Ino, e.Dir, e.ArgDir, e.Displaced = 0, 0, 0, 0
	switch e.Op {
	case vfs.OpSnapshot, vfs.OpSnapshotDelete:
		return e, granted[e.Branch]
	case vfs.OpBranch, vfs.OpBranchRename, vfs.OpBranchDelete:
		return e, !slices.ContainsFunc(strings.Fields(e.Arg), func(name string) bool { return !granted[name] })
	case vfs.OpRename, vfs.OpCopy, vfs.OpLink:
		switch visible := p.Visible(cmp.Or(e.Arg, ".")); {
		case !visible:
			e.Arg = ""
		case !p.Visible(e.Path):
			e.Path, e.Arg = e.Arg, ""
		}
	}
	return e, p.Visible(e.Path)
}
