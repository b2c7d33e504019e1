package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	slashes "path"
	"strings"
	"syscall"
	"unicode/utf8"

	"vfsdb/agent/policy"
	"vfsdb/vfs"
)

// A Guard is one transaction as a tool sees it. It has the verbs of the tree. Each resolves its paths in this
// transaction, and asks the policy about the resolved paths, which have no symlink in them, before it uses them. A
// tool never has the transaction itself, so it cannot forget to ask.
type Guard struct {
	ctx   context.Context
	box   *Toolbox
	tx    *vfs.Tx
	caps  policy.Caps
	dry   bool // an edit is only shown
	asked *approvals
	*effect
}

// An effect records what the verbs of one transaction did, on all guards of it.
type effect struct {
	grown bool  // something was added, so the quota is looked at before the commit
	tally tally // the bytes and entries of the branch with them; zero if no quota was checked
	skips []skip
}

// Context returns the context of the call.
func (g *Guard) Context() context.Context { return g.ctx }

// Caps bound the result of the call.
func (g *Guard) Caps() policy.Caps { return g.caps }

// Within returns a guard of the same transaction with another cap of bytes: for a result of several parts.
func (g *Guard) Within(bytes int) *Guard {
	narrow := *g
	narrow.caps.ResultBytes = bytes
	return &narrow
}

// Dry returns a guard of the same transaction whose edits are only shown.
func (g *Guard) Dry() *Guard {
	dry := *g
	dry.dry = true
	return &dry
}

// Shown returns a path that a model wrote, as a path from the root: for errors.
func (g *Guard) Shown(name string) string { return g.box.shown(name) }

// Explain returns the text of an error for the model.
func (g *Guard) Explain(err error) string { return g.box.explain(err) }

// Allowed returns the paths that the policy allows, with a slash in front; nil is all.
func (g *Guard) Allowed() []string { return g.box.Allowed() }

// Chosen refuses a tool of the profile that the list of actions leaves out, by its name without the prefix.
func (g *Guard) Chosen(name string) error {
	name = g.box.prefix() + name
	if g.box.missing[name] == notChosen {
		return g.box.noTool(name)
	}
	return nil
}

// Free reports whether a use of a node is allowed without anybody being asked.
func (g *Guard) Free(perm policy.Permission, n *Node) bool {
	return g.box.policy.MayUse(perm, n.path) == nil && !g.box.policy.Asks(perm, n.path)
}

// The ways to treat a symlink at the end of a path.
const (
	Follow = true
	Keep   = false
)

// path resolves a path as a model wrote it, and asks the policy whether it may be used so.
func (g *Guard) path(name string, perm policy.Permission, follow bool) (string, error) {
	path, err := g.resolve(name, perm, follow)
	if err != nil {
		return "", err
	}
	if err := g.box.policy.MayUse(perm, path); err != nil {
		return "", g.asWritten(name, err)
	}
	return path, g.approved(perm, path)
}

// tree does what path does, for a use of all that is below the path.
func (g *Guard) tree(name string, perm policy.Permission, follow bool) (string, error) {
	path, err := g.resolve(name, perm, follow)
	if err != nil {
		return "", err
	}
	if err := g.box.policy.MayUseTree(perm, path); err != nil {
		return "", g.asWritten(name, err)
	}
	return path, g.approvedTree(perm, path)
}

// names does what path does, for a use that shows the names below the path, as far as they are visible.
func (g *Guard) names(name string, perm policy.Permission) (string, error) {
	path, err := g.path(name, perm, Follow)
	if err != nil {
		return "", err
	}
	return path, g.approvedTree(perm, path)
}

func (g *Guard) resolve(name string, perm policy.Permission, follow bool) (string, error) {
	full, err := g.box.locate(name)
	if err != nil {
		return "", err
	}
	path, err := g.tx.Resolve(full, follow)
	if err != nil {
		return "", g.hide(full, perm, err)
	}
	if follow && g.box.policy.DenyLeafSymlinks {
		at, err := g.tx.Resolve(full, Keep)
		if err != nil {
			return "", err
		}
		if info, err := g.tx.Lstat(at); err == nil && info.Mode().Type() == fs.ModeSymlink {
			return "", &policy.Error{Path: policy.Rooted(at), Permission: perm, Why: fmt.Sprintf("'%s' is a symlink, which this workspace does not follow", policy.Rooted(at))}
		}
	}
	return path, nil
}

// asWritten makes a refusal name the path as the model wrote it, if that path is itself outside: the resolved one
// would reveal symlinks that the model may not see. If only the end is outside, the refusal names the end: the model
// could not make sense of it otherwise.
func (g *Guard) asWritten(name string, err error) error {
	var outside *policy.Error
	written := slashes.Clean(g.box.shown(name))
	if !errors.As(err, &outside) || outside.Why != "" || g.box.policy.Visible(cmp.Or(written[1:], ".")) {
		return err
	}
	return &policy.Error{Path: written, Permission: outside.Permission}
}

// hide keeps an error of a walk from revealing what is outside. Of a path that it may not see, a model learns no more
// than that. The error does not have the place where the walk ended, so the written path is judged, and the longest
// part of it that resolves.
func (g *Guard) hide(full string, perm policy.Permission, err error) error {
	for dir := full; ; {
		path, bad := g.tx.Resolve(cmp.Or(dir, "/"), Follow)
		if bad == nil {
			if !g.box.policy.LeadsTo(path) {
				return g.asWritten(full, &policy.Error{Path: policy.Rooted(path), Permission: perm})
			}
			return g.climbed(path, full[len(dir):], perm, err)
		}
		dir = dir[:strings.LastIndexByte(dir, '/')]
	}
}

// climbed refuses a path that goes on from a directory through a missing name, and leads outside by its "..". The
// place outside follows from the written path alone.
func (g *Guard) climbed(dir, rest string, perm policy.Permission, err error) error {
	would := slashes.Join(policy.Rooted(dir), rest)
	if g.box.policy.LeadsTo(cmp.Or(would[1:], ".")) {
		return err
	}
	return &policy.Error{Path: would, Permission: perm}
}

// shown returns a path that a model wrote, as a path from the root: for errors.
func (b *Toolbox) shown(name string) string {
	full, err := b.locate(name)
	if err != nil {
		return name
	}
	return full
}

// locate puts the working directory before a relative path. It refuses a path that is no text, or that the profile
// refuses.
func (b *Toolbox) locate(name string) (string, error) {
	switch {
	case name == "":
		return "", Refuse(syscall.EINVAL, "the path is empty")
	case !utf8.ValidString(name):
		return "", Refuse(syscall.EINVAL, "the path is not UTF-8")
	}
	if b.profile.Refuses != nil {
		if err := b.profile.Refuses(name); err != nil {
			return "", err
		}
	}
	if strings.HasPrefix(name, "/") {
		return name, nil
	}
	return b.config.Dir + "/" + name, nil
}

// approvals are the uses that were approved during one call.
type approvals struct{ granted map[Approval]bool }

func (a *approvals) use(perm policy.Permission, path string) error {
	use := Approval{perm, policy.Rooted(path)}
	if a.granted[use] {
		return nil
	}
	return &askError{use}
}

// An Approval is a use of a path that the policy wants somebody to approve.
type Approval struct {
	Permission policy.Permission `json:"permission"`
	Path       string            `json:"path"` // resolved, with a slash in front
}

// An askError ends a transaction so that somebody can be asked without a lock being held.
type askError struct{ Approval }

func (e *askError) Error() string {
	return fmt.Sprintf("%s of '%s' has to be approved", e.Permission, e.Path)
}

func (e *askError) Unwrap() error { return syscall.EACCES }

// approved stops the transaction if a use still has to be approved.
func (g *Guard) approved(perm policy.Permission, path string) error {
	if !g.box.policy.Asks(perm, path) {
		return nil
	}
	return g.asked.use(perm, path)
}

// approvedTree does what approved does, for a use of all that is below a path.
func (g *Guard) approvedTree(perm policy.Permission, path string) error {
	if !g.box.policy.AsksTree(perm, path) {
		return nil
	}
	return g.asked.use(perm, path)
}

// released asks for approval before a file or directory leaves its path: at the new path, reading or listing it may
// need none.
func (g *Guard) released(path string) error {
	if err := g.approvedTree(policy.Read, path); err != nil {
		return err
	}
	return g.approvedTree(policy.List, path)
}

// readable refuses a file that is too large to be read.
func (g *Guard) readable(path string, size int64) error {
	return within(path, size, g.box.policy.MaxFileSize)
}

// writable refuses content that is too large to be left in a file.
func (g *Guard) writable(path string, size int64) error {
	if err := within(path, size, g.box.policy.MaxFileSize); err != nil {
		return err
	}
	return within(path, size, g.box.policy.MaxWriteSize)
}

func within(path string, size int64, limit policy.Size) error {
	if limit > 0 && size > int64(limit) {
		return &policy.SizeError{Path: policy.Rooted(path), Size: size, Max: int64(limit)}
	}
	return nil
}

// Sum returns the sum of a regular file, and nil of anything else.
func (g *Guard) Sum(n *Node) (*vfs.Sum, error) { return g.sum(n.path, n.info) }

// sum does what Sum does, for a resolved path.
func (g *Guard) sum(path string, info *vfs.Info) (*vfs.Sum, error) {
	if !info.Mode().IsRegular() {
		return nil, nil
	}
	sum, err := g.tx.Sum(path)
	return &sum, err
}

// Stops reports whether an error ends the whole call, and not only its part about one file: a use has to be approved,
// or the caller gave up.
func Stops(err error) bool {
	var ask *askError
	return errors.As(err, &ask) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Confined resolves a path in a directory that a tool keeps to, both as models write them. inside is false if the
// path leads out of the directory, through symlinks or without. It reveals nothing else. root is the directory,
// resolved.
func (g *Guard) Confined(dir, name string, follow bool) (root string, inside bool, err error) {
	full, err := g.box.locate(name)
	if err != nil {
		return "", false, err
	}
	if root, err = g.tx.Resolve(strings.TrimSuffix(full, name)+dir, Follow); err != nil {
		return "", false, err
	}

	at, err := g.farthest(full, follow)
	if !policy.Under(at, root) && (err == nil || !policy.Under(root, at)) {
		return "", false, nil
	}
	return policy.Rooted(root), true, err
}

// farthest resolves a path. If it leads nowhere, farthest resolves as much of it as it can, and returns the error
// too.
func (g *Guard) farthest(full string, last bool) (string, error) {
	at, err := g.tx.Resolve(full, last)
	for dir, bad := full, err; bad != nil; {
		cut := strings.LastIndexByte(dir, '/')
		if cut <= 0 {
			return ".", err
		}
		dir = dir[:cut]
		at, bad = g.tx.Resolve(dir, Follow)
	}
	return at, err
}

// Fits refuses content that is too large to be written at a path, before anything is made for it.
func (g *Guard) Fits(name string, size int64) error {
	return g.writable(strings.TrimPrefix(g.box.shown(name), "/"), size)
}
