package policy

import (
	"fmt"
	"maps"
	"slices"
	"syscall"
)

// CheckBounds refuses a bound below -1, by its key in a config file.
func CheckBounds(of string, list map[string]int64) error {
	for _, key := range slices.Sorted(maps.Keys(list)) {
		if n := list[key]; n < -1 {
			return fmt.Errorf("%s: %s is %d: -1 is no bound, 0 the default: %w", of, key, n, syscall.EINVAL)
		}
	}
	return nil
}

// A Policy limits what tools may do. It is checked on resolved paths, inside the transaction that uses them, so no
// symlink, `..` or concurrent rename leads around it. The zero value allows everything, as [AllowAll] does.
//
// A path names a file or directory with all that is below it: "/notes" covers "/notes/a", but not "/notes-old".
type Policy struct {
	// Paths are the only ones that tools may see or touch; an empty list allows all.
	Paths []string `json:"paths,omitempty"`

	// Deny are paths among them that tools may not see or touch.
	Deny []string `json:"deny,omitempty"`

	// ReadOnly are paths that tools may see, but not change. A directory that holds one cannot be moved or removed
	// either.
	ReadOnly []string `json:"read_only,omitempty"`

	// Permissions are those granted; nil is all, without [Run]. That needs Programs.
	Permissions []Permission `json:"permissions,omitempty"`

	// MaxFileSize bounds the files that are read, written, edited and copied. -1 is no bound; 0 is the default of the
	// profile: no bound, except in module2.
	MaxFileSize Size `json:"max_file_size,omitempty"`

	// MaxWriteSize bounds the files that writes, edits and copies leave. A larger file can be read. -1 is no bound; 0
	// is the default of the profile: no bound, except in dofs.
	MaxWriteSize Size `json:"max_write_size,omitempty"`

	// MaxBytes and MaxEntries bound the whole branch; a file with several names counts once. A call that adds to the
	// branch and would leave more is EDQUOT. 0 and -1 are no bound.
	MaxBytes   Size  `json:"max_bytes,omitempty"`
	MaxEntries int64 `json:"max_entries,omitempty"`

	// DenyLeafSymlinks refuses a path that ends in a symlink, where it would be followed.
	DenyLeafSymlinks bool `json:"deny_leaf_symlinks,omitempty"`

	// Branches are other branches than the tools' own that they may look at and fork, as patterns of one segment.
	Branches []string `json:"branches,omitempty"`

	// Programs are the programs of the host that tools may run; nil is none.
	Programs *Programs `json:"programs,omitempty"`

	// Ask are the uses that somebody has to approve; see the field Ask of a tool's configuration.
	Ask []Rule `json:"ask,omitempty"`
}

// A Rule matches uses of paths. An empty list matches any.
type Rule struct {
	Permissions []Permission `json:"permissions,omitempty"`
	Paths       []string     `json:"paths,omitempty"`
}

// AllowAll is the policy that allows everything.
var AllowAll = &Policy{}

// Check refuses a policy that is wrong, and puts its paths in the form of the tree.
func (p *Policy) Check() (*Policy, error) {
	c := *p
	for _, list := range []*[]string{&c.Paths, &c.Deny, &c.ReadOnly} {
		cleaned, err := Clean(*list)
		if err != nil {
			return nil, err
		}
		*list = cleaned
	}

	c.Ask = slices.Clone(c.Ask)
	for i, rule := range c.Ask {
		cleaned, err := Clean(rule.Paths)
		if err != nil {
			return nil, err
		}
		c.Ask[i].Paths = cleaned
	}

	for _, list := range append([][]Permission{c.Permissions}, askedFor(c.Ask)...) {
		for _, perm := range list {
			if !slices.Contains(permissions, perm) {
				return nil, fmt.Errorf("policy: no permission is called %q; there are %v: %w", perm, permissions, syscall.EINVAL)
			}
		}
	}

	err := CheckBounds("policy", map[string]int64{
		"max_file_size": int64(c.MaxFileSize), "max_write_size": int64(c.MaxWriteSize),
		"max_bytes": int64(c.MaxBytes), "max_entries": c.MaxEntries,
	})
	if err == nil {
		err = c.checkPrograms()
	}
	return &c, err
}

func askedFor(rules []Rule) [][]Permission {
	lists := make([][]Permission, len(rules))
	for i, r := range rules {
		lists[i] = r.Permissions
	}
	return lists
}

// Visible reports whether tools may know of a path. Paths from here on are those of the tree: "." or "a/b".
func (p *Policy) Visible(path string) bool {
	return (len(p.Paths) == 0 || underAny(path, p.Paths)) && !underAny(path, p.Deny)
}

// LeadsTo reports whether a directory holds something visible, though it may not be so itself.
func (p *Policy) LeadsTo(path string) bool {
	return p.Visible(path) || slices.ContainsFunc(p.Paths, func(a string) bool { return Under(a, path) })
}

// Grants reports whether a permission is granted at all.
func (p *Policy) Grants(perm Permission) bool {
	if perm == Run && p.Programs == nil {
		return false
	}
	return p.Permissions == nil || slices.Contains(p.Permissions, perm)
}

// MayUse refuses a use of a path that the policy does not allow.
func (p *Policy) MayUse(perm Permission, path string) error {
	if !p.Visible(path) {
		return &Error{Path: Rooted(path), Permission: perm}
	}
	if !p.Grants(perm) {
		return &Error{Path: Rooted(path), Permission: perm, Why: fmt.Sprintf("this workspace grants no %s", perm)}
	}
	if perm != Write && perm != Delete {
		return nil
	}
	if underAny(path, p.ReadOnly) {
		return &Error{Path: Rooted(path), Permission: perm, Why: fmt.Sprintf("'%s' is read-only", Rooted(path))}
	}
	return nil
}

// MayUseTree does what MayUse does for a path and all that is below it: nothing there may be protected.
func (p *Policy) MayUseTree(perm Permission, path string) error {
	if err := p.MayUse(perm, path); err != nil {
		return err
	}
	for _, d := range p.Deny {
		if Under(d, path) {
			return &Error{Path: Rooted(path), Permission: perm, Why: fmt.Sprintf("'%s' holds what this workspace does not grant", Rooted(path))}
		}
	}
	if perm != Write && perm != Delete {
		return nil
	}
	for _, ro := range p.ReadOnly {
		if Under(ro, path) {
			return &Error{Path: Rooted(path), Permission: perm, Why: fmt.Sprintf("'%s' holds '%s', which is read-only", Rooted(path), Rooted(ro))}
		}
	}
	return nil
}

// Asks reports whether somebody has to approve a use. To read, write or remove a directory is to do that to all in it;
// to list one shows only its own names.
func (p *Policy) Asks(perm Permission, path string) bool {
	return p.asksOf(perm, path, perm != List && perm != Snapshot)
}

// AsksTree does what Asks does for a path and all that is below it.
func (p *Policy) AsksTree(perm Permission, path string) bool { return p.asksOf(perm, path, true) }

func (p *Policy) asksOf(perm Permission, path string, whole bool) bool {
	return slices.ContainsFunc(p.Ask, func(r Rule) bool {
		return (len(r.Permissions) == 0 || slices.Contains(r.Permissions, perm)) &&
			(len(r.Paths) == 0 || underAny(path, r.Paths) || whole && overAny(path, r.Paths))
	})
}
