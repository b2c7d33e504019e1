package tool

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// may reports whether tools may look at a branch, told by its number and its name: their own, one that they stood on or
// forked, or one that the policy grants.
func (b *Toolbox) may(id int64, branch string) bool {
	return id == b.Fsys.Moment().Branch || b.at.knows(id) || slices.ContainsFunc(b.Policy.Branches, func(pattern string) bool {
		ok, err := path.Match(pattern, branch)
		return ok && err == nil
	})
}

// Snap names the present moment of the branch.
func (b *Toolbox) Snap(ctx context.Context, name, note string) (Ref, snapshot.Info, error) {
	if strings.Contains(name, "@") {
		return Ref{}, snapshot.Info{}, fmt.Errorf("snapshot name %q: '@' has another meaning: %w", name, syscall.EINVAL)
	}
	defer b.hold()()
	ref, err := RefOf(ctx, b.Fsys) // before: once the snapshot is made nothing may fail any more
	if err != nil {
		return Ref{}, snapshot.Info{}, err
	}
	s, err := snapshot.Create(ctx, b.Fsys, name, &snapshot.Options{Note: note})
	if err != nil {
		return Ref{}, snapshot.Info{}, err
	}
	b.Config.Hear(HookEvent{Kind: "snapshot", Name: s.Info.Name})
	ref.Snapshot = s.Info.Name
	return ref, s.Info, nil
}

// moment finds the tree that a model means by a ref: a full one, or the bare name of a snapshot or a branch.
func (b *Toolbox) moment(ctx context.Context, text string) (snapshot.Tree, Ref, error) {
	ref, err := RefOf(ctx, b.Fsys)
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
	tree, err := snapshot.Resolve(ctx, b.Fsys, text)
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
	if !b.may(id, ref.Branch) {
		return nil, Ref{}, notGranted(text, ref.Branch)
	}
	return tree, ref, nil
}

// approveWhole gets the use of the whole branch approved, if the policy wants that of one of the permissions that it
// takes. It is asked once, in the name of the first.
func (b *Toolbox) approveWhole(ctx context.Context, perms ...Permission) error {
	if !slices.ContainsFunc(perms, func(perm Permission) bool { return b.Policy.asksTree(perm, ".") }) {
		return nil
	}
	return b.ask(ctx, Approval{perms[0], "/"})
}

// Restore brings the branch back to a moment, if the policy lets tools write all that this changes.
func (b *Toolbox) Restore(ctx context.Context, text string) (now, undo Ref, err error) {
	tree, _, err := b.moment(ctx, text)
	if err != nil {
		return Ref{}, Ref{}, err
	}
	if err := b.approveWhole(ctx, PermSnapshot, PermWrite, PermDelete); err != nil {
		return Ref{}, Ref{}, err
	}
	defer b.hold()()
	if err := b.update(ctx, "restore", func(*vfs.Tx) error { return nil }); err != nil {
		return Ref{}, Ref{}, err
	}
	if now, err = RefOf(ctx, b.Fsys); err != nil {
		return Ref{}, Ref{}, err
	}
	before, err := snapshot.RestoreIf(ctx, b.Fsys, tree, b.mayChange)
	if err != nil {
		return Ref{}, Ref{}, err
	}
	b.Config.Hear(HookEvent{Kind: "restore", Name: text})
	undo = now
	undo.Snapshot = before.Info.Name
	return now, undo, nil
}

// mayChange refuses changes of paths that the policy protects.
func (b *Toolbox) mayChange(changes []snapshot.Change) error {
	for _, c := range changes {
		for _, at := range []string{c.Path, c.From} {
			if at == "" {
				continue
			}
			if !b.Policy.visible(at) {
				return &PolicyError{Permission: PermWrite, Why: "it would change what this workspace does not grant"}
			}
			if err := b.Policy.mayUseTree(PermWrite, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// Snapshots lists the snapshots of the branches that tools may look at, oldest first.
func (b *Toolbox) Snapshots(ctx context.Context) ([]snapshot.Info, error) {
	all, err := snapshot.List(ctx, b.Fsys)
	return slices.DeleteFunc(all, func(s snapshot.Info) bool { return !b.may(s.Moment.Branch, s.Branch) }), err
}

// Forget deletes a snapshot of the tools' own branch.
func (b *Toolbox) Forget(ctx context.Context, text string) (string, error) {
	tree, ref, err := b.moment(ctx, text)
	switch {
	case err != nil:
		return "", err
	case kept(tree):
		return "", &PolicyError{Permission: PermSnapshot, Why: fmt.Sprintf("'%s' was taken for whoever runs this workspace, to go back to", text)}
	case ref.Snapshot == "":
		return "", fmt.Errorf("'%s' is a branch; only snapshots can be deleted: %w", text, syscall.EPERM)
	case ref.Branch != b.Fsys.Head():
		return "", &PolicyError{Permission: PermSnapshot, Why: fmt.Sprintf("'%s' is of branch '%s', and this workspace is '%s'", text, ref.Branch, b.Fsys.Head())}
	}
	if err := b.approveWhole(ctx, PermSnapshot); err != nil {
		return "", err
	}
	defer b.hold()()
	return ref.Snapshot, snapshot.Delete(ctx, b.Fsys, ref.Snapshot)
}

// kept reports whether a tree is a snapshot that a session took for itself, for Undo or for Adopt.
func kept(tree snapshot.Tree) bool {
	s, ok := tree.(*snapshot.Snapshot)
	return ok && (IsAutomatic(s.Info) || strings.HasPrefix(s.Info.Name, ForkPrefix) && strings.HasPrefix(s.Info.Note, ForkNote))
}

// Compare tells two moments apart, as far as the policy shows them; "" is the branch as it is now.
func (b *Toolbox) Compare(ctx context.Context, from, to string, limit int) (changes []snapshot.Change, omitted int, err error) {
	trees := [2]snapshot.Tree{b.Fsys, b.Fsys}
	for i, text := range []string{from, to} {
		if text == "" {
			continue
		}
		if trees[i], _, err = b.moment(ctx, text); err != nil {
			return nil, 0, err
		}
	}
	if err := b.approveWhole(ctx, PermList); err != nil {
		return nil, 0, err
	}
	for c, err := range snapshot.Diff(ctx, trees[0], trees[1]) {
		if err != nil {
			return nil, 0, err
		}
		if c, visible := b.Policy.shownOf(c); visible {
			changes = append(changes, c)
		}
	}
	slices.SortStableFunc(changes, func(a, b snapshot.Change) int { return strings.Compare(a.Path, b.Path) })
	omitted = max(0, len(changes)-limit)
	return changes[:len(changes)-omitted], omitted, nil
}

// shownOf is what the policy shows of a change: what was renamed from a hidden path came, and to one it went.
func (p *Policy) shownOf(c snapshot.Change) (snapshot.Change, bool) {
	from, to := c.From != "" && p.visible(c.From), p.visible(c.Path)
	switch {
	case to && c.From != "" && !from:
		return snapshot.Change{Kind: snapshot.Added, Path: c.Path, New: c.New}, true
	case !to && from:
		return snapshot.Change{Kind: snapshot.Removed, Path: c.From, Old: c.Old}, true
	}
	return c, to
}

// ModeText is a mode as results show it.
func ModeText(mode fs.FileMode) string { return fmt.Sprintf("0o%03o", mode.Perm()) }
