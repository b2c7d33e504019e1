package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"vfsdb/merge"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// errMoved ends the commit of a result into a branch that has changed.
var errMoved = errors.New("the branch has changed")

// A bringer puts the result of a command into the branch, or else into a new one.
type bringer struct {
	t      *task
	s      session
	call   *vfs.Call
	result *Result
	into   *vfs.FS // the branch that has the result, or nil
	made   *vfs.FS // a branch with the result and nothing else; nil if there is none
}

// bring stores the result, and logs the run.
func (b *bringer) bring(ctx context.Context) error {
	b.call.Took, b.call.Exit = b.result.Took, &b.result.ExitCode
	b.call.Command = append([]string{b.t.name}, b.t.args...)
	if b.result.ExitCode != 0 {
		b.call.Error = (&ExitError{b.result.ExitCode, b.result.Signal, b.result.TimedOut}).Error()
	}

	var err error
	if !b.t.o.ReadOnly {
		err = b.store(vfs.WithCall(ctx, b.call))
	}
	err = errors.Join(err, b.count(ctx))
	if b.result.Merged {
		err = errors.Join(err, snapshot.DeleteBranch(ctx, b.t.fsys, b.made.Head()))
	}
	b.call.Result = b.result.Bytes
	return errors.Join(err, b.t.fsys.LogCalls(ctx, b.call))
}

// store puts the result into the branch. If that has changed meanwhile, the result becomes a new branch first, from the moment
// that the command saw, and is merged then. A run that is killed in between leaves the new branch.
func (b *bringer) store(ctx context.Context) error {
	err := b.s.bring(ctx, b.t.fsys, func(tx *vfs.Tx) error {
		changed, err := tx.ChangedSince(b.t.moment.Moment())
		if err == nil && changed {
			err = errMoved
		}
		return err
	})
	deleted := false
	if err != nil && !errors.Is(err, errMoved) || b.result.Engine == Live {
		deleted = b.deleted(ctx)
	}
	switch {
	case deleted && b.result.Engine == Live:
		return &MovedError{From: b.t.fsys.Head(), Deleted: true}
	case b.result.Engine == Live && errors.Is(err, syscall.EBUSY):
		b.into = b.t.fsys // all is there, and more may come
		return err
	case deleted:
		err = b.rescue(ctx)
	default:
		b.into = b.t.fsys
	}
	if !errors.Is(err, errMoved) {
		return b.saved(err)
	}

	made, err := fork(ctx, b.t.moment)
	if err != nil {
		return b.saved(err)
	}
	if err := b.s.bring(ctx, made, func(*vfs.Tx) error { return nil }); err != nil {
		return b.saved(errors.Join(err, snapshot.DeleteBranch(ctx, made, made.Head())))
	}
	b.into, b.made = made, made
	if !deleted && b.t.o.Base == "" {
		return b.merge(ctx)
	}
	return b.moved(deleted, nil)
}

// merge merges the new branch with the result into the branch.
func (b *bringer) merge(ctx context.Context) error {
	r, err := merge.Into(ctx, b.t.fsys, b.made, &merge.Options{Label: "run-" + filepath.Base(b.t.name)})
	if err != nil {
		return b.moved(b.deleted(ctx), err)
	}
	b.into, b.result.Merged = b.t.fsys, true
	if len(r.Added) == 0 {
		return nil
	}

	for _, c := range r.Added {
		b.result.Conflicts = append(b.result.Conflicts, c.Path)
	}
	return &ConflictError{Branch: b.t.fsys.Head(), Paths: b.result.Conflicts}
}

// moved is the error of a result that is a new branch.
func (b *bringer) moved(deleted bool, err error) error {
	b.result.Moved = true
	return &MovedError{From: b.t.fsys.Head(), Branch: b.made.Head(), Deleted: deleted, Err: err}
}

// deleted reports whether the branch was deleted meanwhile.
func (b *bringer) deleted(ctx context.Context) bool {
	_, err := b.t.fsys.Lstat(ctx, ".")
	return errors.Is(err, syscall.ESTALE)
}

// rescue is errMoved if the command, whose branch was deleted, has changed something.
func (b *bringer) rescue(ctx context.Context) error {
	main, err := b.t.fsys.Branch(ctx, vfs.MainBranch)
	if err != nil {
		return err
	}
	return b.s.bring(ctx, main, func(*vfs.Tx) error { return errMoved })
}

// saved keeps the result on the host if it could not be stored.
func (b *bringer) saved(err error) error {
	if err == nil {
		return nil
	}
	b.into = nil
	if b.result.Kept = b.s.kept(); b.result.Kept == "" {
		return fmt.Errorf("the result is lost: %w", err)
	}
	return &KeptError{Dir: b.result.Kept, Err: err}
}

// count counts the paths in which the result differs from the moment of the run.
func (b *bringer) count(ctx context.Context) error {
	if b.into == nil {
		return nil
	}
	name, err := b.name(ctx)
	if name == "" || err != nil {
		return err // it was deleted since
	}
	b.result.Branch = name

	for c, err := range snapshot.Diff(ctx, b.t.moment, cmp.Or(b.made, b.into)) {
		if err != nil {
			return err
		}
		b.result.Changed++
		if (c.Kind == snapshot.Added || c.Kind == snapshot.Modified) && c.New.Mode().IsRegular() {
			b.result.Bytes += c.New.Size()
		}
	}
	return nil
}

// name returns the present name of the branch that has the result, or "" if it was deleted. It may have been renamed while the
// command ran.
func (b *bringer) name(ctx context.Context) (string, error) {
	list, err := b.into.Store().Branches(ctx)
	i := slices.IndexFunc(list, func(at vfs.Branch) bool { return at.ID == b.into.Moment().Branch })
	if err != nil || i < 0 {
		return "", err
	}
	return list[i].Name, nil
}

// fork makes a branch that starts as a moment was, under a name that is free. Main writes it: another branch may be gone.
func fork(ctx context.Context, moment *vfs.FS) (*vfs.FS, error) {
	main, err := moment.Branch(ctx, vfs.MainBranch)
	if err != nil {
		return nil, err
	}
	for {
		made, err := snapshot.Branch(ctx, main, moment, "run-"+strings.ToLower(rand.Text()[:8]))
		if !errors.Is(err, fs.ErrExist) {
			return made, err
		}
	}
}
