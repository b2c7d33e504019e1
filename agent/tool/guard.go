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

	"vfsdb/vfs"
)

// A Guard is one transaction as a tool sees it. It has the verbs of the tree, each of which resolves its paths in this
// very transaction and asks the policy about what they lead to, before it goes there. A verb then gets the resolved
// path, which has no symlink in it. A tool never has the transaction itself, so it cannot forget to ask.
type Guard struct {
	Ctx   context.Context
	Box   *Toolbox
	Tx    *vfs.Tx
	grown bool // something was added, so the quota is looked at before the commit
	Dry   bool // an edit is only shown
	asked *approvals
	tally tally // what the branch holds with it; zero if that was not asked
	skips []skip
}

// follow and keep say what becomes of a symlink at the end of a path.
const (
	Follow = true
	Keep   = false
)

// Path resolves what a model wrote to a path of the tree, and asks the policy whether it may be used so.
func (g *Guard) Path(name string, perm Permission, follow bool) (string, error) {
	path, err := g.Resolve(name, perm, follow)
	if err != nil {
		return "", err
	}
	if err := g.Box.Policy.MayUse(perm, path); err != nil {
		return "", g.asWritten(name, err)
	}
	return path, g.approved(perm, path)
}

// tree is path for a use of all that is below it.
func (g *Guard) tree(name string, perm Permission, follow bool) (string, error) {
	path, err := g.Resolve(name, perm, follow)
	if err != nil {
		return "", err
	}
	if err := g.Box.Policy.mayUseTree(perm, path); err != nil {
		return "", g.asWritten(name, err)
	}
	return path, g.approvedTree(perm, path)
}

// Names is path for a use that tells the names of all that is below it, as far as they are visible.
func (g *Guard) Names(name string, perm Permission) (string, error) {
	path, err := g.Path(name, perm, Follow)
	if err != nil {
		return "", err
	}
	return path, g.approvedTree(perm, path)
}

func (g *Guard) Resolve(name string, perm Permission, follow bool) (string, error) {
	full, err := g.Box.Locate(name)
	if err != nil {
		return "", err
	}
	path, err := g.Tx.Resolve(full, follow)
	if err != nil {
		return "", g.hide(full, perm, err)
	}
	if follow && g.Box.Policy.DenyLeafSymlinks {
		at, err := g.Tx.Resolve(full, Keep)
		if err != nil {
			return "", err
		}
		if info, err := g.Tx.Lstat(at); err == nil && info.Mode().Type() == fs.ModeSymlink {
			return "", &PolicyError{Path: Rooted(at), Permission: perm, Why: fmt.Sprintf("'%s' is a symlink, which this workspace does not follow", Rooted(at))}
		}
	}
	return path, nil
}

// asWritten lets the refusal of a path that is written as one outside name just that: where it leads is told by
// symlinks that are outside too. Of one that only leads outside, the refusal names the end, or it would be a riddle.
func (g *Guard) asWritten(name string, err error) error {
	var outside *PolicyError
	written := slashes.Clean(g.Box.Shown(name))
	if !errors.As(err, &outside) || outside.Why != "" || g.Box.Policy.visible(cmp.Or(written[1:], ".")) {
		return err
	}
	return &PolicyError{Path: written, Permission: outside.Permission}
}

// hide keeps an error of a walk from telling what is outside: whoever may not see a path learns no more than that. How
// far the walk came is not known, so what was written is judged, and the longest part of it that does resolve.
func (g *Guard) hide(full string, perm Permission, err error) error {
	for dir := full; ; {
		path, bad := g.Tx.Resolve(cmp.Or(dir, "/"), Follow)
		if bad == nil {
			if !g.Box.Policy.leadsTo(path) {
				return g.asWritten(full, &PolicyError{Path: Rooted(path), Permission: perm})
			}
			return g.climbed(path, full[len(dir):], perm, err)
		}
		dir = dir[:strings.LastIndexByte(dir, '/')]
	}
}

// climbed refuses a path that goes on from a directory through what is not there, and leads outside by its "..": where it
// would be outside is said by what is written.
func (g *Guard) climbed(dir, rest string, perm Permission, err error) error {
	would := slashes.Join(Rooted(dir), rest)
	if g.Box.Policy.leadsTo(cmp.Or(would[1:], ".")) {
		return err
	}
	return &PolicyError{Path: would, Permission: perm}
}

// Shown is a path that a model wrote, as a path from the root: for errors.
func (b *Toolbox) Shown(name string) string {
	full, err := b.Locate(name)
	if err != nil {
		return name
	}
	return full
}

// Locate puts the working directory before a relative path, and refuses what is no text, and what the profile refuses.
func (b *Toolbox) Locate(name string) (string, error) {
	switch {
	case name == "":
		return "", Refuse(syscall.EINVAL, "the path is empty")
	case !utf8.ValidString(name):
		return "", Refuse(syscall.EINVAL, "the path is not UTF-8")
	}
	if b.Profile.Refuses != nil {
		if err := b.Profile.Refuses(name); err != nil {
			return "", err
		}
	}
	if strings.HasPrefix(name, "/") {
		return name, nil
	}
	return b.Config.Dir + "/" + name, nil
}

// approvals are the uses that somebody approved in the course of one call.
type approvals struct{ granted map[Approval]bool }

func (a *approvals) use(perm Permission, path string) error {
	use := Approval{perm, Rooted(path)}
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
func (g *Guard) approved(perm Permission, path string) error {
	if !g.Box.Policy.Asks(perm, path) {
		return nil
	}
	return g.asked.use(perm, path)
}

// approvedTree is approved for a use of all that is below a path.
func (g *Guard) approvedTree(perm Permission, path string) error {
	if !g.Box.Policy.asksTree(perm, path) {
		return nil
	}
	return g.asked.use(perm, path)
}

// released gets approved that what is at a path gets another one, where nobody may be asked who reads or lists it.
func (g *Guard) released(path string) error {
	if err := g.approvedTree(PermRead, path); err != nil {
		return err
	}
	return g.approvedTree(PermList, path)
}

// readable refuses a file that is too large to be read.
func (g *Guard) readable(path string, size int64) error {
	return within(path, size, g.Box.Policy.MaxFileSize)
}

// Writable refuses content that is too large to be left in a file.
func (g *Guard) Writable(path string, size int64) error {
	if err := within(path, size, g.Box.Policy.MaxFileSize); err != nil {
		return err
	}
	return within(path, size, g.Box.Policy.MaxWriteSize)
}

func within(path string, size int64, limit Size) error {
	if limit > 0 && size > int64(limit) {
		return &SizeError{Rooted(path), size, int64(limit)}
	}
	return nil
}

// Sum returns the sum of a regular file, and nil of anything else. path is resolved.
func (g *Guard) Sum(path string, info *vfs.Info) (*vfs.Sum, error) {
	if !info.Mode().IsRegular() {
		return nil, nil
	}
	sum, err := g.Tx.Sum(path)
	return &sum, err
}

// Stops reports whether an error ends the whole call, and not only its part about one file: somebody has to be asked,
// or the caller gave up.
func Stops(err error) bool {
	var ask *askError
	return errors.As(err, &ask) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
