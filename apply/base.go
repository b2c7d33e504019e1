package apply

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/history"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// runSuffix makes of a branch's name that of the snapshot that a run over a directory leaves.
const runSuffix = "-base"

// A NoBaseError means that the state that a directory had when a branch began is not known. The caller can name it. It is
// EINVAL.
type NoBaseError struct{ Source string }

func (e *NoBaseError) Error() string {
	return fmt.Sprintf("no base is known for %s: it was not forked, and no run over a directory made it", e.Source)
}

// Unwrap returns EINVAL.
func (e *NoBaseError) Unwrap() error { return syscall.EINVAL }

// findBase returns what a directory was when the source began, and what that is in words.
func findBase(ctx context.Context, source *vfs.FS, label, abs string, o *Options) (*vfs.FS, string, error) {
	if o.Base != nil {
		return o.Base.Tree(), snapshot.Label(o.Base) + ", as named", nil
	}
	head := source.Head()
	if head == "" {
		return nil, "", &NoBaseError{label}
	}

	for _, name := range []string{recordName(head, abs), head + runSuffix} {
		s, err := snapshot.Open(ctx, source, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, "", err
		case s.Info.Branch == head:
			return s.FS, fmt.Sprintf("the snapshot %s, %s", name, s.Info.Note), nil
		}
	}
	return forkOf(ctx, source)
}

// forkOf returns the moment at which a branch was forked.
func forkOf(ctx context.Context, source *vfs.FS) (*vfs.FS, string, error) {
	var levels []history.Level
	err := (*tree.Tree)(source).View(ctx, func(tx *tree.Tx) (err error) {
		levels, err = history.ReadLineage(tx.DB(), source.Moment())
		return err
	})
	if err != nil {
		return nil, "", err
	}
	if len(levels) < 2 {
		return nil, "", &NoBaseError{source.Head()}
	}
	base, err := source.At(ctx, history.Moment{Branch: levels[1].Branch, Epoch: levels[1].Cap})
	return base, fmt.Sprintf("the moment at which %s was forked", source.Head()), err
}

// recordName returns the name of the snapshot that keeps what was last applied to a directory.
func recordName(head, abs string) string {
	sum := chunk.SumOf([]byte(abs))
	return head + "-applied-" + hex.EncodeToString(sum[:4])
}

// record keeps what was applied as the base of the next apply. If the branch has changed meanwhile, the base stays as it was.
//
// The directory is synced before. Else a loss of power could leave a base with files that the directory does not have, and the
// next apply would take these for removed ones.
func (a *applier) record(ctx context.Context, source *vfs.FS, abs string) (name string, err error) {
	if source.Frozen() {
		return "", nil
	}
	if err := a.sync(ctx, source); err != nil {
		return "", err
	}

	made := recordName(source.Head(), abs)
	err = source.Update(ctx, func(tx *vfs.Tx) error {
		name = ""
		changed, err := tx.ChangedSince(a.theirs.Moment())
		if err != nil || changed {
			return err
		}
		if err := snapshot.DeleteIn(tx, made); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		name = made
		_, err = snapshot.CreateIn(tx, made, "applied to "+abs)
		return err
	})
	return name, err
}
