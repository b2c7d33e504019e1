package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// A History is the branch over time: its moments and its forks. It is for tools that work on the whole branch. Each of
// its verbs asks the policy, and has transactions of its own. Package branches has more of them, which are made of the
// parts in this file: they ask the policy themselves.
type History struct{ box *Toolbox }

// History returns the history of the branch where the tools stand now.
func (b *Toolbox) History() *History { return &History{b.here()} }

// Caps bound the result of the call.
func (h *History) Caps() policy.Caps { return h.box.caps }

// Ref names the branch.
func (h *History) Ref(ctx context.Context) (Ref, error) { return RefOf(ctx, h.box.fsys) }

// FS returns the branch.
func (h *History) FS() *vfs.FS { return h.box.fsys }

// Policy returns the policy that the verbs ask.
func (h *History) Policy() *policy.Policy { return h.box.policy }

// Locate returns a path that a model wrote as a path from the root, not resolved.
func (h *History) Locate(name string) (string, error) { return h.box.locate(name) }

// Sees reports whether tools may look at a branch: see [History.Moment].
func (h *History) Sees(of vfs.Branch) bool { return h.box.may(of.ID, of.Name) }

// On returns the history of another branch, as far as tools may write there: they stood on it, or forked it. Any other is
// EACCES. Changes of it are no steps that Undo of a session takes back.
func (h *History) On(branch *vfs.FS) (*History, error) {
	if !h.box.at.knows(branch.Moment().Branch) {
		return nil, &policy.Error{Permission: policy.Write, Why: fmt.Sprintf("this workspace neither stood on the branch '%s' nor forked it, so it cannot change it", branch.Head())}
	}
	box := *h.box
	box.at, box.keeper = NewPosition(branch, nil), nil
	return &History{box.here()}, nil
}

// Hear sends an event of the workspace to its hooks.
func (h *History) Hear(e hooks.Event) { h.box.config.Hear(e) }

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
	h.Hear(hooks.Event{Kind: "snapshot", Name: s.Info.Name})
	ref.Snapshot = s.Info.Name
	return ref, s.Info, nil
}

// Moment finds the tree that a model means by a ref: a full one, the bare name of a snapshot or a branch, or a moment of
// [snapshot.ResolveRef]. It is of the tools' own branch, of one that they stood on or forked, or of one that the policy grants;
// any other is EACCES, also where the moment lies before a fork. The Ref of a moment has no snapshot, and the branch whose
// state it was.
func (h *History) Moment(ctx context.Context, text string) (snapshot.Tree, Ref, error) {
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
	if base, moment := snapshot.BaseOf(text); moment && errors.Is(err, fs.ErrNotExist) {
		return h.past(ctx, text, base)
	}
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

// past finds a moment of the past of a tree that has a name; "" is the branch. The branch whose state it was has to be granted
// too.
func (h *History) past(ctx context.Context, text, base string) (snapshot.Tree, Ref, error) {
	ref, err := RefOf(ctx, h.box.fsys)
	if base != "" {
		_, ref, err = h.Moment(ctx, base)
	}
	if err != nil {
		return nil, Ref{}, err
	}
	tree, err := snapshot.ResolveRef(ctx, h.box.fsys, text)
	var gone *snapshot.GoneError
	switch {
	case errors.As(err, &gone):
		seen, bad := h.Snapshots(ctx)
		gone.Near = slices.DeleteFunc(gone.Near, func(name string) bool {
			return !slices.ContainsFunc(seen, func(s snapshot.Info) bool { return s.Name == name })
		})
		return nil, Ref{}, errors.Join(bad, err)
	case errors.Is(err, syscall.EINVAL) && strings.Contains(text, "@{call "): // the reason may name a branch that is not granted
		return nil, Ref{}, Refuse(syscall.EINVAL, "'%s': that call changed nothing here", text)
	case err != nil:
		return nil, Ref{}, err
	}

	list, err := h.box.fsys.Store().Branches(ctx)
	if err != nil {
		return nil, Ref{}, err
	}
	id := tree.Tree().Moment().Branch
	ref.Branch, ref.Snapshot = "", ""
	for _, b := range list {
		if b.ID == id {
			ref.Branch = b.Name
		}
	}
	if !h.box.may(id, ref.Branch) {
		return nil, Ref{}, notGranted(text, ref.Branch)
	}
	return tree, ref, nil
}

// Approve asks for approval of the use of the whole branch, if the policy wants that for one of the permissions.
// It asks once, for the first of them.
func (h *History) Approve(ctx context.Context, perms ...policy.Permission) error {
	if !slices.ContainsFunc(perms, func(perm policy.Permission) bool { return h.box.policy.AsksTree(perm, ".") }) {
		return nil
	}
	return h.box.ask(ctx, Approval{perms[0], "/"})
}

// MayChange refuses changes of paths that the policy protects.
func (h *History) MayChange(changes []snapshot.Change) error {
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

// Update runs one transaction on the branch, for the tool op, with an automatic snapshot at its beginning if one is due.
// Calls that move the tools to another branch wait for it. A change after which the branch holds more than the policy
// allows is undone, and a [policy.QuotaError].
func (h *History) Update(ctx context.Context, op string, change func(*vfs.Tx) error) error {
	_, err := h.box.within(ctx, h.box.updating(op), func(g *Guard) (any, error) {
		g.grown = true
		return Text(""), change(g.tx)
	})
	return err
}

// Snapshots lists the snapshots of the branches that tools may look at, oldest first.
func (h *History) Snapshots(ctx context.Context) ([]snapshot.Info, error) {
	all, err := snapshot.List(ctx, h.box.fsys)
	return slices.DeleteFunc(all, func(s snapshot.Info) bool { return !h.box.may(s.Moment.Branch, s.Branch) }), err
}

// Forget deletes a snapshot of the tools' own branch.
func (h *History) Forget(ctx context.Context, text string) (string, error) {
	tree, ref, err := h.Moment(ctx, text)
	switch {
	case err != nil:
		return "", err
	case keepsIt(tree):
		return "", &policy.Error{Permission: policy.Snapshot, Why: fmt.Sprintf("'%s' is a snapshot that the session keeps for itself, so it cannot be deleted", text)}
	case ref.Snapshot == "":
		return "", fmt.Errorf("'%s' is no snapshot; only snapshots can be deleted: %w", text, syscall.EPERM)
	case ref.Branch != h.box.fsys.Head():
		return "", &policy.Error{Permission: policy.Snapshot, Why: fmt.Sprintf("'%s' is of branch '%s', and this workspace is '%s'", text, ref.Branch, h.box.fsys.Head())}
	}
	if err := h.Approve(ctx, policy.Snapshot); err != nil {
		return "", err
	}
	defer h.box.hold()()
	return ref.Snapshot, snapshot.Delete(ctx, h.box.fsys, ref.Snapshot)
}

// keepsIt reports whether a tree is a snapshot that a session took for itself, for Undo.
func keepsIt(tree snapshot.Tree) bool {
	s, ok := tree.(*snapshot.Snapshot)
	return ok && kept.IsAutomatic(s.Info)
}
