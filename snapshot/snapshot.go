package snapshot

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"vfsdb/schema"
	"vfsdb/vfs"
)

// A Tree is something that can be compared, forked and restored: a *[vfs.FS] or a *[Snapshot].
type Tree interface {
	Tree() *vfs.FS
}

// Info is what is recorded of a snapshot.
type Info struct {
	ID      int64
	Name    string
	Branch  string // the name of the branch that it is a moment of
	Moment  vfs.Moment
	Created time.Time
	Note    string
}

// A Snapshot is the tree of a named moment. It reads like any FS and refuses writes with EROFS. Once it is deleted, and
// nothing else keeps its moment, reads fail with ESTALE: another snapshot does, or a branch that was forked there.
type Snapshot struct {
	*vfs.FS
	Info Info
}

// Options say more about a new snapshot.
type Options struct {
	// Note is kept with the snapshot, for people.
	Note string
}

// Create names the present moment of a branch. An empty name makes one up. A name that a snapshot or a branch has is
// EEXIST, one that [vfs.CheckName] refuses EINVAL; of a tree of the past EROFS.
func Create(ctx context.Context, fsys *vfs.FS, name string, options *Options) (*Snapshot, error) {
	var o Options
	if options != nil {
		o = *options
	}
	if name == "" {
		name = madeUpName("snap")
	}
	info := Info{Name: name, Created: time.Now(), Note: o.Note}
	var made *Snapshot
	err := fsys.Update(ctx, func(tx *vfs.Tx) (err error) {
		if err := create(tx, &info); err != nil {
			return err
		}
		made, err = openIn(tx, info)
		return err
	})
	if err != nil {
		return nil, nameErr("snapshot", name, err)
	}
	return made, nil
}

// create freezes the head and names the moment.
func create(tx *vfs.Tx, info *Info) error {
	if err := vfs.CheckName(info.Name); err != nil {
		return err
	}
	taken, err := nameTaken(tx, info.Name)
	if err != nil {
		return err
	}
	if taken {
		return syscall.EEXIST
	}
	if err := tx.Record("snapshot", ".", info.Name); err != nil { // before the moment: a branch forked there tells of it
		return err
	}
	if info.Moment, err = tx.Freeze(); err != nil {
		return err
	}
	if err = insert(tx.DB(), info); err != nil {
		return err
	}
	*info, err = selectOne(tx.DB(), info.Name) // it knows what the branch is called now
	return err
}

// nameTaken reports whether a snapshot or a branch is called name.
func nameTaken(tx *vfs.Tx, name string) (bool, error) {
	n, _, err := tx.DB().Int(`SELECT EXISTS (SELECT 1 FROM snapshot WHERE name = ?1) OR EXISTS (SELECT 1 FROM branch WHERE name = ?1)`, name)
	return n == 1, err
}

// madeUpName makes a name that nobody has.
func madeUpName(what string) string {
	id := make([]byte, 4)
	_, _ = rand.Read(id) // it cannot fail
	return what + "-" + time.Now().UTC().Format("20060102-150405") + "-" + hex.EncodeToString(id)
}

func open(ctx context.Context, fsys *vfs.FS, info Info) (*Snapshot, error) {
	past, err := fsys.At(ctx, info.Moment)
	if err != nil {
		return nil, nameErr("snapshot", info.Name, err)
	}
	return &Snapshot{FS: past, Info: info}, nil
}

// openIn is open within the transaction that makes the snapshot: once it is committed nothing can fail any more.
func openIn(tx *vfs.Tx, info Info) (*Snapshot, error) {
	past, err := tx.At(info.Moment)
	if err != nil {
		return nil, nameErr("snapshot", info.Name, err)
	}
	return &Snapshot{FS: past, Info: info}, nil
}

// List returns the snapshots of the store, oldest first.
func List(ctx context.Context, fsys *vfs.FS) (list []Info, err error) {
	err = fsys.DB().View(ctx, func(db *schema.Tx) (err error) {
		list, err = selectAll(db)
		return err
	})
	if err != nil {
		return nil, nameErr("snapshots", fsys.Name(), err)
	}
	return list, nil
}

// Open returns the snapshot called name; none is ENOENT.
func Open(ctx context.Context, fsys *vfs.FS, name string) (*Snapshot, error) {
	var info Info
	err := fsys.DB().View(ctx, func(db *schema.Tx) (err error) {
		info, err = selectOne(db, name)
		return err
	})
	if err != nil {
		return nil, nameErr("snapshot", name, err)
	}
	return open(ctx, fsys, info)
}

// Delete removes a snapshot and its name. Branches that were forked from it stay; what nothing else keeps is gc's.
func Delete(ctx context.Context, fsys *vfs.FS, name string) error {
	return nameErr("delete snapshot", name, deleteOne(ctx, fsys, name))
}

func deleteOne(ctx context.Context, fsys *vfs.FS, name string) error {
	var info Info
	err := fsys.DB().View(ctx, func(db *schema.Tx) (err error) {
		info, err = selectOne(db, name)
		return err
	})
	if err != nil {
		return err
	}
	head, err := fsys.Branch(ctx, info.Branch)
	if err != nil {
		return err
	}
	return head.Update(ctx, func(tx *vfs.Tx) error { return removeIn(tx, name) })
}

// removeIn removes a snapshot and records that.
func removeIn(tx *vfs.Tx, name string) error {
	if err := remove(tx.DB(), name); err != nil {
		return err
	}
	return tx.Record("snapshot-delete", ".", name)
}

// Restore makes the head of fsys what another tree is: a snapshot, or a branch as it is now. It costs what differs.
// What the head was is kept as the snapshot undo, so a restore can itself be undone. All in one commit.
func Restore(ctx context.Context, fsys *vfs.FS, to Tree) (undo *Snapshot, err error) {
	return RestoreIf(ctx, fsys, to, nil)
}

// RestoreIf is [Restore], unless check finds fault with what it changes: then nothing changes, and its error is
// returned. The changes are those of the very commit. check may be nil.
func RestoreIf(ctx context.Context, fsys *vfs.FS, to Tree, check func([]Change) error) (undo *Snapshot, err error) {
	info := Info{Name: madeUpName("undo"), Created: time.Now(), Note: "before restore of " + describe(to)}
	err = fsys.Update(ctx, func(tx *vfs.Tx) (err error) {
		if check != nil {
			then, err := tx.On(to.Tree())
			if err != nil {
				return err
			}
			changes, err := diff(tx, then)
			if err != nil {
				return err
			}
			if err := check(changes); err != nil {
				return err
			}
		}
		if err := restore(tx, to, &info); err != nil {
			return err
		}
		undo, err = openIn(tx, info)
		return err
	})
	if err != nil {
		return nil, nameErr("restore", fsys.Head(), err)
	}
	return undo, nil
}

// describe names a tree for a note.
func describe(t Tree) string {
	if s, ok := t.(*Snapshot); ok {
		return s.Info.Name
	}
	return t.Tree().Name()
}

// nameErr says what was asked of which name, once.
func nameErr(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var pe *fs.PathError
	var le *os.LinkError
	if errors.As(err, &pe) || errors.As(err, &le) {
		return err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}
