package tool

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool/hooks"
	"vfsdb/agent/tool/kept"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A History is the branch over time: its moments, its forks, its log. It is for tools that work on the whole branch.
// Each of its verbs asks the policy, and has transactions of its own.
type History struct{ box *Toolbox }

// History returns the history of the branch where the tools stand now.
func (b *Toolbox) History() *History { return &History{b.here()} }

// Caps bound the result of the call.
func (h *History) Caps() policy.Caps { return h.box.caps }

// Ref names the branch.
func (h *History) Ref(ctx context.Context) (Ref, error) { return RefOf(ctx, h.box.fsys) }

// Resolve returns the path that a model means, with a slash in front; "" if it leads nowhere. It needs no approval,
// since it reveals no content.
func (h *History) Resolve(ctx context.Context, name string) (path string, err error) {
	_, err = h.box.within(ctx, h.box.viewing(), func(g *Guard) (any, error) {
		path = ""
		if at, err := g.resolve(name, policy.Read, Follow); err == nil {
			path = policy.Rooted(at)
		}
		return Text(""), nil
	})
	return path, err
}

// Own returns the events of this session at a path, newest first, up to max; none if the session has no name.
func (h *History) Own(ctx context.Context, path string, max int) ([]vfs.Event, error) {
	if h.box.config.Session == "" {
		return nil, nil
	}
	return h.box.fsys.Log(ctx, &vfs.LogOptions{Path: policy.Unrooted(path), Session: h.box.config.Session, Newest: true, Max: max})
}

// may reports whether tools may look at a branch, given by its number and its name: their own, one that they stood on or
// forked, or one that the policy grants.
func (b *Toolbox) may(id int64, branch string) bool {
	return id == b.fsys.Moment().Branch || b.at.knows(id) || slices.ContainsFunc(b.policy.Branches, func(pattern string) bool {
		ok, err := path.Match(pattern, branch)
		return ok && err == nil
	})
}

// Snapshot names the present moment of the branch.
func (h *History) Snapshot(ctx context.Context, name, note string) (Ref, snapshot.Info, error) {
	if strings.Contains(name, "@") {
		return Ref{}, snapshot.Info{}, fmt.Errorf("snapshot name %q: it must not contain '@': %w", name, syscall.EINVAL)
	}
	defer h.box.hold()()
	ref, err := RefOf(ctx, h.box.fsys) // before: once the snapshot is made nothing may fail any more
	if err != nil {
		return Ref{}, snapshot.Info{}, err
	}
	s, err := snapshot.Create(ctx, h.box.fsys, name, &snapshot.Options{Note: note})
	if err != nil {
		return Ref{}, snapshot.Info{}, err
	}
	h.box.config.Hear(hooks.Event{Kind: "snapshot", Name: s.Info.Name})
	ref.Snapshot = s.Info.Name
	return ref, s.Info, nil
}

// moment finds the tree that a model means by a ref: a full one, or the bare name of a snapshot or a branch.
func (h *History) moment(ctx context.Context, text string) (snapshot.Tree, Ref, error) {
	ref, err := RefOf(ctx, h.box.fsys)
	if err != nil {
		return nil, Ref{}, err
	}
	if strings.HasPrefix(text, refScheme) {
		given, err := ParseRef(text)
		if err != nil {
			return nil, Ref{}, err
		}
		if given.DB != ref.DB {
			return nil, Ref{}, &ForeignRefError{given, ref.DB}
		}
		text = given.Branch
		if given.Snapshot != "" {
			text += "@" + given.Snapshot
		}
	}

	tree, err := snapshot.Resolve(ctx, h.box.fsys, text)
	if err != nil {
		return nil, Ref{}, err
	}
	id := tree.Tree().Moment().Branch
	if s, ok := tree.(*snapshot.Snapshot); ok {
		ref.Branch, ref.Snapshot = s.Info.Branch, s.Info.Name
		id = s.Info.Moment.Branch
	} else {
		ref.Branch = tree.Tree().Head()
	}

	if !h.box.may(id, ref.Branch) {
		return nil, Ref{}, notGranted(text, ref.Branch)
	}
	return tree, ref, nil
}

// approveWhole asks for approval of the use of the whole branch, if the policy wants that for one of the permissions.
// It asks once, for the first of them.
func (h *History) approveWhole(ctx context.Context, perms ...policy.Permission) error {
	if !slices.ContainsFunc(perms, func(perm policy.Permission) bool { return h.box.policy.AsksTree(perm, ".") }) {
		return nil
	}
	return h.box.ask(ctx, Approval{perms[0], "/"})
}

// Restore brings the branch back to a moment, if the policy lets tools write all paths that this changes.
func (h *History) Restore(ctx context.Context, text string) (now, undo Ref, err error) {
	tree, _, err := h.moment(ctx, text)
	if err != nil {
		return Ref{}, Ref{}, err
	}
	if err := h.approveWhole(ctx, policy.Snapshot, policy.Write, policy.Delete); err != nil {
		return Ref{}, Ref{}, err
	}

	defer h.box.hold()()
	if err := h.box.update(ctx, "restore", func(*vfs.Tx) error { return nil }); err != nil {
		return Ref{}, Ref{}, err
	}
	if now, err = RefOf(ctx, h.box.fsys); err != nil {
		return Ref{}, Ref{}, err
	}

	before, err := snapshot.RestoreIf(ctx, h.box.fsys, tree, h.mayChange)
	if err != nil {
		return Ref{}, Ref{}, err
	}
	h.box.config.Hear(hooks.Event{Kind: "restore", Name: text})
	undo = now
	undo.Snapshot = before.Info.Name
	return now, undo, nil
}

// mayChange refuses changes of paths that the policy protects.
func (h *History) mayChange(changes []snapshot.Change) error {
	for _, c := range changes {
		for _, at := range []string{c.Path, c.From} {
			if at == "" {
				continue
			}
			if !h.box.policy.Visible(at) {
				return &policy.Error{Permission: policy.Write, Why: "it would change paths that this workspace does not grant"}
			}
			if err := h.box.policy.MayUseTree(policy.Write, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// Snapshots lists the snapshots of the branches that tools may look at, oldest first.
func (h *History) Snapshots(ctx context.Context) ([]snapshot.Info, error) {
	all, err := snapshot.List(ctx, h.box.fsys)
	return slices.DeleteFunc(all, func(s snapshot.Info) bool { return !h.box.may(s.Moment.Branch, s.Branch) }), err
}

// Forget deletes a snapshot of the tools' own branch.
func (h *History) Forget(ctx context.Context, text string) (string, error) {
	tree, ref, err := h.moment(ctx, text)
	switch {
	case err != nil:
		return "", err
	case keepsIt(tree):
		return "", &policy.Error{Permission: policy.Snapshot, Why: fmt.Sprintf("'%s' is a snapshot that the session keeps for itself, so it cannot be deleted", text)}
	case ref.Snapshot == "":
		return "", fmt.Errorf("'%s' is a branch; only snapshots can be deleted: %w", text, syscall.EPERM)
	case ref.Branch != h.box.fsys.Head():
		return "", &policy.Error{Permission: policy.Snapshot, Why: fmt.Sprintf("'%s' is of branch '%s', and this workspace is '%s'", text, ref.Branch, h.box.fsys.Head())}
	}
	if err := h.approveWhole(ctx, policy.Snapshot); err != nil {
		return "", err
	}
	defer h.box.hold()()
	return ref.Snapshot, snapshot.Delete(ctx, h.box.fsys, ref.Snapshot)
}

// keepsIt reports whether a tree is a snapshot that a session took for itself, for Undo or for Adopt.
func keepsIt(tree snapshot.Tree) bool {
	s, ok := tree.(*snapshot.Snapshot)
	return ok && (kept.IsAutomatic(s.Info) || kept.IsBase(s.Info))
}

// Compare lists the differences of two moments, as far as the policy shows them; "" is the branch as it is now.
func (h *History) Compare(ctx context.Context, from, to string, limit int) (changes []snapshot.Change, omitted int, err error) {
	trees := [2]snapshot.Tree{h.box.fsys, h.box.fsys}
	for i, text := range []string{from, to} {
		if text == "" {
			continue
		}
		if trees[i], _, err = h.moment(ctx, text); err != nil {
			return nil, 0, err
		}
	}

	if err := h.approveWhole(ctx, policy.List); err != nil {
		return nil, 0, err
	}
	for c, err := range snapshot.Diff(ctx, trees[0], trees[1]) {
		if err != nil {
			return nil, 0, err
		}
		if c, visible := shownOf(h.box.policy, c); visible {
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
