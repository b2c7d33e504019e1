package agent

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

	"vfsdb/vfs"
)

// A guard is one transaction as a tool sees it. It has the verbs of the tree, each of which resolves its paths in this
// very transaction and asks the policy about what they lead to, before it goes there. A verb then gets the resolved
// path, which has no symlink in it. A tool never has the transaction itself, so it cannot forget to ask.
type guard struct {
	ctx   context.Context
	box   *Toolbox
	tx    *vfs.Tx
	grown bool // something was added, so the quota is looked at before the commit
	dry   bool // an edit is only shown
	asked *approvals
	tally tally // what the branch holds with it; zero if that was not asked
	skips []skip
}

// follow and keep say what becomes of a symlink at the end of a path.
const (
	follow = true
	keep   = false
)

// path resolves what a model wrote to a path of the tree, and asks the policy whether it may be used so.
func (g *guard) path(name string, perm Permission, follow bool) (string, error) {
	path, err := g.resolve(name, perm, follow)
	if err != nil {
		return "", err
	}
	if err := g.box.policy.mayUse(perm, path); err != nil {
		return "", g.asWritten(name, err)
	}
	return path, g.approved(perm, path)
}

// tree is path for a use of all that is below it.
func (g *guard) tree(name string, perm Permission, follow bool) (string, error) {
	path, err := g.resolve(name, perm, follow)
	if err != nil {
		return "", err
	}
	if err := g.box.policy.mayUseTree(perm, path); err != nil {
		return "", g.asWritten(name, err)
	}
	return path, g.approvedTree(perm, path)
}

// names is path for a use that tells the names of all that is below it, as far as they are visible.
func (g *guard) names(name string, perm Permission) (string, error) {
	path, err := g.path(name, perm, follow)
	if err != nil {
		return "", err
	}
	return path, g.approvedTree(perm, path)
}

func (g *guard) resolve(name string, perm Permission, follow bool) (string, error) {
	full, err := g.box.locate(name)
	if err != nil {
		return "", err
	}
	path, err := g.tx.Resolve(full, follow)
	if err != nil {
		return "", g.hide(full, perm, err)
	}
	if follow && g.box.policy.DenyLeafSymlinks {
		at, err := g.tx.Resolve(full, keep)
		if err != nil {
			return "", err
		}
		if info, err := g.tx.Lstat(at); err == nil && info.Mode().Type() == fs.ModeSymlink {
			return "", &PolicyError{Path: rooted(at), Permission: perm, Why: fmt.Sprintf("'%s' is a symlink, which this workspace does not follow", rooted(at))}
		}
	}
	return path, nil
}

// asWritten lets the refusal of a path that is written as one outside name just that: where it leads is told by
// symlinks that are outside too. Of one that only leads outside, the refusal names the end, or it would be a riddle.
func (g *guard) asWritten(name string, err error) error {
	var outside *PolicyError
	written := slashes.Clean(g.box.shown(name))
	if !errors.As(err, &outside) || outside.Why != "" || g.box.policy.visible(cmp.Or(written[1:], ".")) {
		return err
	}
	return &PolicyError{Path: written, Permission: outside.Permission}
}

// hide keeps an error of a walk from telling what is outside: whoever may not see a path learns no more than that. How
// far the walk came is not known, so what was written is judged, and the longest part of it that does resolve.
func (g *guard) hide(full string, perm Permission, err error) error {
	for dir := full; ; {
		path, bad := g.tx.Resolve(cmp.Or(dir, "/"), follow)
		if bad == nil {
			if !g.box.policy.leadsTo(path) {
				return g.asWritten(full, &PolicyError{Path: rooted(path), Permission: perm})
			}
			return g.climbed(path, full[len(dir):], perm, err)
		}
		dir = dir[:strings.LastIndexByte(dir, '/')]
	}
}

// climbed refuses a path that goes on from a directory through what is not there, and leads outside by its "..": where it
// would be outside is said by what is written.
func (g *guard) climbed(dir, rest string, perm Permission, err error) error {
	would := slashes.Join(rooted(dir), rest)
	if g.box.policy.leadsTo(cmp.Or(would[1:], ".")) {
		return err
	}
	return &PolicyError{Path: would, Permission: perm}
}

// shown is a path that a model wrote, as a path from the root: for errors.
func (b *Toolbox) shown(name string) string {
	full, err := b.locate(name)
	if err != nil {
		return name
	}
	return full
}

// locate puts the working directory before a relative path, and refuses what is no text, and what the profile refuses.
func (b *Toolbox) locate(name string) (string, error) {
	switch {
	case name == "":
		return "", refuse(syscall.EINVAL, "the path is empty")
	case !utf8.ValidString(name):
		return "", refuse(syscall.EINVAL, "the path is not UTF-8")
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

// approvals are the uses that somebody approved in the course of one call.
type approvals struct{ granted map[Approval]bool }

func (a *approvals) use(perm Permission, path string) error {
	use := Approval{perm, rooted(path)}
	if a.granted[use] {
		return nil
	}
	return &askError{use}
}

// An Approval is a use of a path that the policy wants somebody to approve.
type Approval struct {
	Permission Permission `json:"permission"`
	Path       string     `json:"path"` // resolved, with a slash in front
}

// An askError ends a transaction so that somebody can be asked without a lock being held.
type askError struct{ Approval }

func (e *askError) Error() string {
	return fmt.Sprintf("%s of '%s' has to be approved", e.Permission, e.Path)
}

func (e *askError) Unwrap() error { return syscall.EACCES }

// approved stops the transaction if a use has to be approved and has not been.
func (g *guard) approved(perm Permission, path string) error {
	if !g.box.policy.asks(perm, path) {
		return nil
	}
	return g.asked.use(perm, path)
}

// approvedTree is approved for a use of all that is below a path.
func (g *guard) approvedTree(perm Permission, path string) error {
	if !g.box.policy.asksTree(perm, path) {
		return nil
	}
	return g.asked.use(perm, path)
}

// released gets approved that what is at a path gets another one, where nobody may be asked who reads or lists it.
func (g *guard) released(path string) error {
	if err := g.approvedTree(PermRead, path); err != nil {
		return err
	}
	return g.approvedTree(PermList, path)
}

// readable refuses a file that is too large to be read.
func (g *guard) readable(path string, size int64) error {
	return within(path, size, g.box.policy.MaxFileSize)
}

// writable refuses content that is too large to be left in a file.
func (g *guard) writable(path string, size int64) error {
	if err := within(path, size, g.box.policy.MaxFileSize); err != nil {
		return err
	}
	return within(path, size, g.box.policy.MaxWriteSize)
}

func within(path string, size int64, limit Size) error {
	if limit > 0 && size > int64(limit) {
		return &SizeError{rooted(path), size, int64(limit)}
	}
	return nil
}

// sum returns the sum of a regular file, and nil of anything else. path is resolved.
func (g *guard) sum(path string, info *vfs.Info) (*vfs.Sum, error) {
	if !info.Mode().IsRegular() {
		return nil, nil
	}
	sum, err := g.tx.Sum(path)
	return &sum, err
}
