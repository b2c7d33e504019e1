package tool

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// logPage is how many events are read at a time while those that the policy shows are looked for.
const logPage = 1000

// Log returns events of the branch, newest first: up to limit events with a lower number than before (0 is all), at a
// path or below it ("" is everything), as far as the policy shows them. more reports whether there are others.
func (h *History) Log(ctx context.Context, path string, before int64, limit int) (events []vfs.Event, more bool, err error) {
	o := vfs.LogOptions{Until: before, Newest: true, Max: logPage}
	if path != "" {
		if o.Path, err = h.box.locate(path); err != nil {
			return nil, false, err
		}
		cleaned, err := policy.Clean([]string{o.Path})
		if err != nil {
			return nil, false, err
		}
		if err := h.box.policy.MayUse(policy.List, cleaned[0]); err != nil {
			return nil, false, err
		}
	}

	if err := h.approveWhole(ctx, policy.List); err != nil {
		return nil, false, err
	}
	branches, err := h.Branches(ctx)
	if err != nil {
		return nil, false, err
	}

	granted := map[string]bool{}
	for _, of := range branches {
		granted[of.Name] = true
	}

	for {
		page, err := h.box.fsys.Log(ctx, &o)
		if err != nil {
			return nil, false, err
		}
		for _, e := range page {
			shown, ok := h.shownEvent(e, granted)
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
func (h *History) shownEvent(e vfs.Event, granted map[string]bool) (vfs.Event, bool) {
	e.Ino, e.Dir, e.ArgDir, e.Displaced = 0, 0, 0, 0
	switch e.Op {
	case vfs.OpSnapshot, vfs.OpSnapshotDelete:
		return e, granted[e.Branch]
	case vfs.OpBranch, vfs.OpBranchRename, vfs.OpBranchDelete:
		return e, !slices.ContainsFunc(strings.Fields(e.Arg), func(name string) bool { return !granted[name] })
	case vfs.OpRename, vfs.OpCopy, vfs.OpLink:
		switch visible := h.box.policy.Visible(cmp.Or(e.Arg, ".")); {
		case !visible:
			e.Arg = ""
		case !h.box.policy.Visible(e.Path):
			e.Path, e.Arg = e.Arg, ""
		}
	}
	return e, h.box.policy.Visible(e.Path)
}

// Blame returns the lines of a text file, each with the event that last touched it, if the policy lets it be read.
func (h *History) Blame(ctx context.Context, name string) (path string, sum *vfs.Sum, lines []snapshot.Line, err error) {
	var data []byte
	_, err = h.box.within(ctx, h.box.viewing(), func(g *Guard) (any, error) {
		n, all, err := g.readAll(name)
		if err != nil {
			return Text(""), err
		}
		path, sum, data = n.path, n.sum, all
		return Text(""), nil
	})
	if err != nil {
		return "", nil, nil, err
	}
	if vfs.LooksBinary(data) {
		return "", nil, nil, &BinaryError{policy.Rooted(path), int64(len(data))}
	}
	if lines, err = snapshot.Blame(ctx, h.box.fsys, path); err != nil {
		return "", nil, nil, err
	}

	// That was another moment. The path may lead elsewhere in it, to a file that the policy was not asked about.
	rest := data
	for _, l := range lines {
		var same bool
		if rest, same = bytes.CutPrefix(rest, []byte(l.Text)); !same {
			return "", nil, nil, errChanged(path)
		}
		rest, _ = bytes.CutPrefix(rest, []byte("\n"))
	}
	if len(rest) > 0 {
		return "", nil, nil, errChanged(path)
	}
	return path, sum, lines, nil
}

func errChanged(path string) error {
	return fmt.Errorf("'%s' was changed while its history was read: %w", policy.Rooted(path), syscall.EBUSY)
}

// Branches lists the branches that tools may look at, oldest first.
func (h *History) Branches(ctx context.Context) ([]vfs.Branch, error) {
	all, err := h.box.fsys.Store().Branches(ctx)
	return slices.DeleteFunc(all, func(of vfs.Branch) bool { return !h.box.may(of.ID, of.Name) }), err
}
