package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"vfsdb/history"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// PruneOptions are the optional parts of a prune. A nil *PruneOptions is the zero value: it drops old automatic snapshots
// of one branch.
type PruneOptions struct {
	// Policy is for the snapshots that someone asked for. Without a rule all of them stay.
	Policy Policy

	// Automatic is for those that [Info.Automatic] reports. Without a rule it is [AutomaticPolicy].
	Automatic Policy

	// All prunes all branches, each by itself. Otherwise only the branch of the tree is pruned.
	All bool

	// Zone is where days and hours begin. nil is [time.Local].
	Zone *time.Location

	// DryRun finds out what would be dropped, and changes nothing. It works on a store that is open read-only.
	DryRun bool
}

// Pruned is the result of a prune, oldest first. Snapshots that no policy was applied to are in neither list.
type Pruned struct {
	Kept    []Kept
	Dropped []Info
}

// Kept is a snapshot that stays.
type Kept struct {
	Info
	Reasons []string // the rules that keep it, such as "daily" and "oldest yearly"
}

// Prune drops the snapshots that a policy does not keep, as [Delete] does, in one commit. The two kinds, automatic or not,
// do not count for each other. The snapshots that a later apply begins with stay under any policy, and so does the newest
// commit of a git import. A policy that keeps no snapshot of a branch that has some is EINVAL, and then nothing is dropped.
func Prune(ctx context.Context, fsys *vfs.FS, options *PruneOptions) (*Pruned, error) {
	var o PruneOptions
	if options != nil {
		o = *options
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	if o.Automatic.Empty() {
		o.Automatic = AutomaticPolicy()
	}

	var made *Pruned
	err := cmp.Or(o.Policy.check(), o.Automatic.check())
	switch {
	case err != nil:
	case o.DryRun:
		err = fsys.View(ctx, func(tx *vfs.Tx) (err error) {
			made, err = o.divide(tx)
			return err
		})
	default:
		err = fsys.Update(ctx, func(tx *vfs.Tx) (err error) {
			if made, err = o.divide(tx); err != nil {
				return err
			}
			return drop(tx, made.Dropped)
		})
	}
	if err != nil {
		return nil, nameErr("prune", fsys.Name(), err)
	}
	return made, nil
}

// divide finds out which snapshots stay, and which do not.
func (o *PruneOptions) divide(tx *vfs.Tx) (*Pruned, error) {
	list, err := selectAll((*tree.Tx)(tx).DB())
	if err != nil {
		return nil, err
	}

	// Each kind of each branch is a group, newest first.
	type group struct {
		branch    int64
		automatic bool
	}
	groups := make(map[group][]Info)
	for _, s := range list {
		if o.All || s.Moment.Branch == tx.Moment().Branch {
			g := group{s.Moment.Branch, s.Automatic()}
			groups[g] = append(groups[g], s)
		}
	}

	made := &Pruned{}
	now := time.Now()
	for g, list := range groups {
		policy := &o.Policy
		if g.automatic {
			policy = &o.Automatic
		}
		if policy.Empty() {
			continue
		}
		if err := made.add(list, policy, now, o.Zone); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(made.Kept, func(a, b Kept) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(made.Dropped, func(a, b Info) int { return cmp.Compare(a.ID, b.ID) })
	return made, nil
}

// add divides the snapshots of a group.
func (p *Pruned) add(list []Info, policy *Policy, now time.Time, zone *time.Location) error {
	var counted []Info
	for _, s := range list {
		if s.isBase() {
			p.Kept = append(p.Kept, Kept{s, []string{"base of an apply"}})
		} else {
			counted = append(counted, s)
		}
	}
	slices.SortFunc(counted, func(a, b Info) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID))
	})

	why := policy.reasons(counted, now, zone)
	if !slices.ContainsFunc(why, func(reasons []string) bool { return len(reasons) > 0 }) && len(counted) > 0 {
		return fmt.Errorf("the policy keeps none of %d snapshots of %s: %w", len(counted), counted[0].Branch, syscall.EINVAL)
	}
	if i := slices.IndexFunc(counted, Info.isCommit); i >= 0 {
		why[i] = append(why[i], "commit of git")
	}

	for i, s := range counted {
		if len(why[i]) > 0 {
			p.Kept = append(p.Kept, Kept{s, why[i]})
		} else {
			p.Dropped = append(p.Dropped, s)
		}
	}
	return nil
}

// drop deletes snapshots and records that, each on its branch.
func drop(tx *vfs.Tx, list []Info) error {
	if len(list) == 0 {
		return nil
	}
	ids := make([]int64, len(list))
	for i, s := range list {
		ids[i] = s.ID
	}
	if err := history.DeleteSnapshotIDs((*tree.Tx)(tx).DB(), ids); err != nil {
		return err
	}

	branches := map[int64]*tree.Tx{tx.Moment().Branch: (*tree.Tx)(tx)}
	for _, s := range list {
		on := branches[s.Moment.Branch]
		if on == nil {
			head, err := headIn(tx, s.Branch)
			if err != nil {
				return err
			}
			if on, err = (*tree.Tx)(tx).On((*tree.Tree)(head)); err != nil {
				return err
			}
			branches[s.Moment.Branch] = on
		}
		if err := on.Record("snapshot-delete", ".", s.Name); err != nil {
			return err
		}
	}
	return nil
}

// undoName is the form of the names that restores and merges make up, and appliedName that of those of applies.
var (
	undoName    = regexp.MustCompile(`^undo-[0-9]{8}-[0-9]{6}-[0-9a-f]{8}$`)
	appliedName = regexp.MustCompile(`-applied-[0-9a-f]{8}$`)
)

// Automatic reports whether neither a person nor a model has asked for a snapshot: a restore or a merge has left it, for
// people to take it back, a session, before a call, or an apply, for the next one.
func (s Info) Automatic() bool {
	return undoName.MatchString(s.Name) || strings.HasPrefix(s.Name, "auto-") && strings.HasPrefix(s.Note, "automatic: ") ||
		appliedName.MatchString(s.Name) && strings.HasPrefix(s.Note, "applied to ")
}

// isBase reports whether an apply of the branch begins with a snapshot: it shows a directory before a run over it, or as it
// was after the last apply.
func (s Info) isBase() bool {
	rest, ok := strings.CutPrefix(s.Name, s.Branch)
	return ok && (rest == "-base" || appliedName.MatchString(rest))
}

// isCommit reports whether a snapshot is a commit of a repository, on which an export to git can go on.
func (s Info) isCommit() bool { return strings.Contains(s.Note, "\nGit-Commit: ") }
