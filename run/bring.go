package run

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strings"

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
	if err == nil || b.result.Moved {
		err = errors.Join(err, b.count(ctx))
	}
	b.call.Result = b.result.Bytes
	return errors.Join(err, b.t.fsys.LogCalls(ctx, b.call))
}

// store puts the result into the branch, if that has not changed meanwhile, else into a new one.
func (b *bringer) store(ctx context.Context) error {
	at := b.t.moment.Moment()
	err := b.s.bring(ctx, b.t.fsys, func(tx *vfs.Tx) error {
		changed, err := tx.ChangedSince(at)
		if err == nil && changed {
			err = errMoved
		}
		return err
	})
	if !errors.Is(err, errMoved) {
		b.result.Branch = b.t.fsys.Head()
		return b.saved(err)
	}

	made, err := fork(ctx, b.t.fsys, b.t.moment)
	if err != nil {
		return b.saved(err)
	}
	if err := b.s.bring(ctx, made, func(*vfs.Tx) error { return nil }); err != nil {
		return b.saved(err)
	}
	b.result.Branch, b.result.Moved = made.Head(), true
	return &MovedError{From: b.t.fsys.Head(), Branch: made.Head()}
}

// saved keeps the result on the host if it could not be stored.
func (b *bringer) saved(err error) error {
	if err == nil {
		return nil
	}
	b.result.Branch = ""
	if b.result.Kept = b.s.kept(); b.result.Kept == "" {
		return fmt.Errorf("the result is lost: %w", err)
	}
	return &KeptError{Dir: b.result.Kept, Err: err}
}

// count counts the paths in which the branch differs from the moment of the run.
func (b *bringer) count(ctx context.Context) error {
	if b.result.Branch == "" {
		return nil
	}
	head, err := b.t.fsys.Branch(ctx, b.result.Branch)
	if err != nil {
		return err
	}
	for c, err := range snapshot.Diff(ctx, b.t.moment, head) {
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

// fork makes a branch that starts as a moment was, or empty if that is nil, under a name that is free.
func fork(ctx context.Context, fsys *vfs.FS, moment *vfs.FS) (*vfs.FS, error) {
	var base snapshot.Tree
	if moment != nil {
		base = moment
	}
	for {
		made, err := snapshot.Branch(ctx, fsys, base, "run-"+strings.ToLower(rand.Text()[:8]))
		if !errors.Is(err, fs.ErrExist) {
			return made, err
		}
	}
}
