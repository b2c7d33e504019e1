package tool

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// logPage is how many events are read at a time while those that the policy shows are looked for.
const logPage = 1000

// Log returns what happened to the branch, newest first: up to limit events with a lower number than before (0 is all),
// of what is at a path or below it ("" is everything), as far as the policy shows them. more says that there are others.
func (b *Toolbox) Log(ctx context.Context, path string, before int64, limit int) (events []vfs.Event, more bool, err error) {
	o := vfs.LogOptions{Until: before, Newest: true, Max: logPage}
	if path != "" {
		if o.Path, err = b.Locate(path); err != nil {
			return nil, false, err
		}
		cleaned, err := cleanPaths([]string{o.Path})
		if err != nil {
			return nil, false, err
		}
		if err := b.Policy.MayUse(PermList, cleaned[0]); err != nil {
			return nil, false, err
		}
	}
	if err := b.approveWhole(ctx, PermList); err != nil {
		return nil, false, err
	}
	branches, err := b.VisibleBranches(ctx)
	if err != nil {
		return nil, false, err
	}
	granted := map[string]bool{}
	for _, of := range branches {
		granted[of.Name] = true
	}
	for {
		page, err := b.Fsys.Log(ctx, &o)
		if err != nil {
			return nil, false, err
		}
		for _, e := range page {
			shown, ok := b.shownEvent(e, granted)
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

// shownEvent is what the policy shows of an event: paths that are visible, and what happened to the whole of a branch
// that is granted.
func (b *Toolbox) shownEvent(e vfs.Event, granted map[string]bool) (vfs.Event, bool) {
	switch e.Op {
	case vfs.OpSnapshot, vfs.OpSnapshotDelete:
		return e, granted[e.Branch]
	case vfs.OpBranch, vfs.OpBranchRename, vfs.OpBranchDelete:
		return e, !slices.ContainsFunc(strings.Fields(e.Arg), func(name string) bool { return !granted[name] })
	case vfs.OpRename, vfs.OpCopy, vfs.OpLink:
		switch visible := b.Policy.visible(cmp.Or(e.Arg, ".")); {
		case !visible:
			e.Arg = ""
		case !b.Policy.visible(e.Path):
			e.Path, e.Arg = e.Arg, ""
		}
	}
	return e, b.Policy.visible(e.Path)
}

// Blame returns the lines of a text file, each with the event that last touched it, if the policy lets it be read.
func (b *Toolbox) Blame(ctx context.Context, name string) (path string, sum *vfs.Sum, lines []snapshot.Line, err error) {
	var data []byte
	_, err = b.Within(ctx, b.Viewing(), func(g *Guard) (any, error) {
		n, all, err := g.readAll(name)
		if err != nil {
			return Text(""), err
		}
		path, sum, data = n.Path, n.Sum, all
		return Text(""), nil
	})
	if err != nil {
		return "", nil, nil, err
	}
	if vfs.LooksBinary(data) {
		return "", nil, nil, &BinaryError{Rooted(path), int64(len(data))}
	}
	if lines, err = snapshot.Blame(ctx, b.Fsys, path); err != nil {
		return "", nil, nil, err
	}

	// That was another moment. The path may lead elsewhere in it, where nobody has asked the policy.
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
	return fmt.Errorf("'%s' was changed while its history was read: %w", Rooted(path), syscall.EBUSY)
}

// VisibleBranches lists the branches that tools may look at, oldest first.
func (b *Toolbox) VisibleBranches(ctx context.Context) ([]vfs.Branch, error) {
	all, err := b.Fsys.Branches(ctx)
	return slices.DeleteFunc(all, func(of vfs.Branch) bool { return !b.may(of.ID, of.Name) }), err
}
