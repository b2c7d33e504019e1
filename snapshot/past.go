package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"vfsdb/history"
	"vfsdb/journal"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A GoneError means that a collection has taken the moment that a reference names. It is ESTALE.
type GoneError struct {
	Ref  string   // as it was given
	Near []string // the nearest snapshots of the branch, as far as there are any: an earlier one, and a later one
}

func (e *GoneError) Error() string {
	near := "no snapshot is near it"
	switch len(e.Near) {
	case 0:
	case 1:
		near = "the nearest snapshot is " + e.Near[0]
	default:
		near = "the nearest snapshots are " + strings.Join(e.Near, " and ")
	}
	return fmt.Sprintf("%s: a collection has taken this moment, and %s: %v", e.Ref, near, syscall.ESTALE)
}

// Unwrap returns ESTALE.
func (e *GoneError) Unwrap() error { return syscall.ESTALE }

// ResolveRef finds the tree that a reference of [ParseRef] names. A name is found as by [Resolve], and comes first: a
// snapshot may be called {-3}. A moment is one of the past of the tree that is named, before a fork on the branches that it
// comes from; without a name, of fsys.
//
//   - main@{2 hours ago} is the state before the first change that is later than that.
//   - main@{call 71} is the state after the last change of that call.
//   - main@{-3} is the state before the last three calls, whoever made them: an undo is one too.
//
// Changes that are part of no call may share one state, and are then all in it or none. A moment can be read as long as
// something keeps it or no collection has taken anything of it. It refuses writes with EROFS, and reads fail with ESTALE
// once it is gone.
//
// If nothing was written since, what comes later must not get into the moment, so it is ended by a commit, which waits for
// other writers. A store that is open read-only cannot do that: there the moment is the tree itself that is named.
//
// A name that nothing has is ENOENT and an *[fs.PathError]; a moment that the log does not have is ENOENT, a call that did not
// change the tree and a moment that makes no sense EINVAL, and one that a collection has taken a [GoneError].
func ResolveRef(ctx context.Context, fsys *vfs.FS, text string) (Tree, error) {
	base, err := Resolve(ctx, fsys, text)
	name, _, moment := cutMoment(text)
	if !moment || !errors.Is(err, fs.ErrNotExist) {
		return base, err
	}

	base = fsys
	if name != "" {
		if base, err = Resolve(ctx, fsys, name); err != nil {
			return nil, err
		}
	}
	ref, err := ParseRef(text, time.Now())
	if err != nil {
		return nil, err
	}
	t := (*tree.Tree)(base.Tree())
	if !t.Whole() {
		return nil, nameErr("find moment", text, syscall.EINVAL)
	}

	var found Tree
	find := func(tx *tree.Tx, end bool) error {
		levels, err := history.ReadLineage(tx.DB(), tx.Moment())
		if err != nil {
			return err
		}
		p := past{tx: tx, text: text, levels: levels}
		at, moved, err := p.find(ref)
		if err == nil && !moved {
			at, moved, err = p.now(end)
		}
		if err == nil && moved {
			found, err = p.stand(at)
		}
		return err
	}
	err = t.View(ctx, func(tx *tree.Tx) error { return find(tx, false) })
	if err == nil && found == nil {
		found = base
		if !base.Tree().Frozen() && !base.Tree().Store().ReadOnly() {
			err = t.Update(vfs.WithCall(ctx, nil), func(tx *tree.Tx) error { return find(tx, true) })
		}
	}
	if _, bare := err.(syscall.Errno); bare {
		err = nameErr("find moment", text, err)
	}
	return found, err
}

// ResolvePath finds the file that REF:PATH names: the tree, as [ResolveRef] does, and the path in it. Text that begins with no
// reference to something that exists is a path in fsys. Where it could be both, it is the reference; a path with a slash before
// the colon, such as ./a:b, is always a path. An empty PATH is the root.
func ResolvePath(ctx context.Context, fsys *vfs.FS, text string) (Tree, string, error) {
	var missing error // the reason why what looks like a moment is none
	for _, way := range cutPath(text) {
		found, err := ResolveRef(ctx, fsys, way[0])
		var unknown *fs.PathError
		switch {
		case err == nil && way[1] == "":
			return found, "/", nil
		case err == nil:
			return found, way[1], nil
		case !errors.As(err, &unknown) || !errors.Is(err, fs.ErrNotExist):
			return nil, "", err
		}
		if _, _, moment := cutMoment(way[0]); moment && missing == nil {
			missing = err
		}
	}
	if missing != nil {
		if _, err := fsys.Lstat(ctx, text); errors.Is(err, fs.ErrNotExist) {
			return nil, "", missing
		}
	}
	return fsys, text, nil
}

// A past is the past of a tree.
type past struct {
	tx     *tree.Tx
	text   string          // the reference
	levels []history.Level // of the tree
}

// find returns the moment of a reference; moved is false if it is the tree itself.
func (p *past) find(ref Ref) (at history.Moment, moved bool, err error) {
	switch {
	case ref.Call != 0:
		return p.after(ref.Call)
	case ref.Back != 0:
		at, err = p.back(ref.Back)
		return at, true, err
	}

	// The time.
	begin, kept, err := journal.Begin(p.tx.DB())
	switch {
	case err != nil:
		return at, false, err
	case !kept:
		return at, false, refuse(p.text, syscall.ENOENT, "the log is empty")
	case ref.Time.Before(begin):
		return at, false, refuse(p.text, syscall.ENOENT, "the log goes back to %s", begin.Format(time.RFC3339))
	}
	at, moved, err = journal.FirstAfter(p.tx.DB(), ref.Time, p.levels)
	if err != nil || !moved {
		return at, false, err
	}
	at, err = p.before(at)
	return at, true, err
}

// now returns the moment of the present state. It is there if nothing was written since it ended; with end, it ends here.
func (p *past) now(end bool) (at history.Moment, there bool, err error) {
	if p.tx.Moment().Final() {
		return p.tx.Moment(), true, nil
	}
	if end {
		at, err = p.tx.EndStep()
		return at, true, err
	}
	epoch, _, err := history.ReadBranch(p.tx.DB(), p.tx.Moment().Branch)
	if err != nil || epoch == schema.FirstEpoch {
		return at, false, err
	}
	at = history.Moment{Branch: p.tx.Moment().Branch, Epoch: epoch - 1}
	changed, err := p.tx.ChangedSince(at)
	return at, !changed, err
}

// before returns the moment before an epoch: at the begin of a branch, that which it was forked from.
func (p *past) before(at history.Moment) (history.Moment, error) {
	if at.Epoch > schema.FirstEpoch {
		return history.Moment{Branch: at.Branch, Epoch: at.Epoch - 1}, nil
	}
	for i, l := range p.levels {
		if l.Branch == at.Branch && i+1 < len(p.levels) {
			return history.Moment{Branch: p.levels[i+1].Branch, Epoch: p.levels[i+1].Cap}, nil
		}
	}
	return at, refuse(p.text, syscall.ENOENT, "the branch begins later")
}

// after returns the moment after the last step of a call.
func (p *past) after(call int64) (at history.Moment, moved bool, err error) {
	steps, err := journal.StepsOf(p.tx.DB(), call)
	if err != nil {
		return at, false, err
	}
	for _, l := range p.levels {
		for _, step := range steps { // the latest of each branch comes first
			if step.Branch != l.Branch || step.Epoch > l.Cap {
				continue
			}
			at = history.Moment{Branch: step.Branch, Epoch: step.Epoch}
			open, _, err := history.ReadBranch(p.tx.DB(), step.Branch)
			return at, at.Epoch < open, err
		}
	}

	record, there, err := journal.ReadCall(p.tx.DB(), call)
	switch {
	case err != nil:
		return at, false, err
	case !there:
		oldest, newest, err := journal.CallSpan(p.tx.DB())
		switch {
		case err != nil:
			return at, false, err
		case newest < oldest:
			return at, false, refuse(p.text, syscall.ENOENT, "the log has no call")
		}
		return at, false, refuse(p.text, syscall.ENOENT, "the log has the calls %d to %d", oldest, newest)
	case len(steps) > 0 && record.Branch != "":
		return at, false, refuse(p.text, syscall.EINVAL, "call %d changed another branch, %s", call, record.Branch)
	}
	return at, false, refuse(p.text, syscall.EINVAL, "call %d changed nothing here", call)
}

// back returns the moment before the last n calls. Steps of one call that follow each other count as one.
func (p *past) back(n int) (history.Moment, error) {
	const window = 256
	var first history.Moment // the first step, so far, of the call that was counted last
	count, call := 0, int64(0)
	for _, l := range p.levels {
		for below := l.Cap + 1; ; {
			steps, err := journal.StepsOn(p.tx.DB(), l.Branch, below, window)
			if err != nil {
				return first, err
			}
			for _, step := range steps {
				if step.Call != call {
					if count == n {
						return p.before(first)
					}
					count, call = count+1, step.Call
				}
				below = step.Epoch
				first = history.Moment{Branch: step.Branch, Epoch: step.Epoch}
			}
			if len(steps) < window {
				break
			}
		}
	}
	switch count {
	case n:
		return p.before(first)
	case 0:
		return first, refuse(p.text, syscall.ENOENT, "the log has no call that changed the branch")
	case 1:
		return first, refuse(p.text, syscall.ENOENT, "the log has only one call that changed the branch")
	}
	return first, refuse(p.text, syscall.ENOENT, "the log has only %d calls that changed the branch", count)
}

// stand returns the tree of a moment, which must be whole.
func (p *past) stand(at history.Moment) (Tree, error) {
	whole, err := history.Whole(p.tx.DB(), at)
	if err != nil {
		return nil, err
	}
	if !whole {
		near, err := history.Nearest(p.tx.DB(), at)
		if err != nil {
			return nil, err
		}
		return nil, &GoneError{Ref: p.text, Near: near}
	}
	t, err := p.tx.Past(at)
	if err != nil {
		return nil, err
	}
	return (*vfs.FS)(t.Sub(schema.RootIno, p.text)), nil
}
