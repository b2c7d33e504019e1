package snapshot

import (
	"context"
	"syscall"
	"time"

	"vfsdb/history"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A Tree can be compared, forked and restored. It is a *[vfs.FS] or a *[Snapshot].
type Tree interface {
	Tree() *vfs.FS
}

// Info is the record of a snapshot.
type Info struct {
	ID      int64
	Name    string
	Branch  string // the present name of the branch whose moment it is
	Moment  vfs.Moment
	Created time.Time
	Note    string
}

// A Snapshot is the tree of a named moment. It reads like any FS and refuses writes with EROFS. After it is deleted,
// reads fail with ESTALE, unless another snapshot or a branch that was forked there still keeps the moment.
type Snapshot struct {
	*vfs.FS
	Info Info
}

// Options are the optional parts of a new snapshot. A nil *Options is the zero value.
type Options struct {
	// Note is kept with the snapshot, for people.
	Note string
}

// Create names the present moment of a branch. An empty name makes one up. A name that a snapshot or a branch already
// has is EEXIST, one that [vfs.CheckName] refuses is EINVAL, and a tree of the past is EROFS.
func Create(ctx context.Context, fsys *vfs.FS, name string, options *Options) (*Snapshot, error) {
	var o Options
	if options != nil {
		o = *options
	}

	if name == "" {
		name = MadeUpName("snap")
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

// CreateIn is [Create] as a part of a transaction on the head of a branch.
func CreateIn(tx *vfs.Tx, name, note string) (Info, error) {
	if name == "" {
		name = MadeUpName("snap")
	}
	info := Info{Name: name, Created: time.Now(), Note: note}
	if err := create(tx, &info); err != nil {
		return Info{}, nameErr("snapshot", name, err)
	}
	return info, nil
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

	// The event comes before the moment, so that the history of a branch that is forked there includes it.
	if err := (*tree.Tx)(tx).Record("snapshot", ".", info.Name); err != nil {
		return err
	}
	if info.Moment, err = (*tree.Tx)(tx).Freeze(); err != nil {
		return err
	}

	if err := history.AddSnapshot((*tree.Tx)(tx).DB(), info.Name, info.Moment, info.Created, info.Note); err != nil {
		return err
	}
	*info, err = selectOne((*tree.Tx)(tx).DB(), info.Name) // now with the id, and the present name of the branch
	return err
}

// List returns the snapshots of the store, oldest first.
func List(ctx context.Context, fsys *vfs.FS) (list []Info, err error) {
	err = (*tree.Tree)(fsys).DB().View(ctx, func(db *schema.Tx) (err error) {
		list, err = selectAll(db)
		return err
	})
	if err != nil {
		return nil, nameErr("snapshots", fsys.Name(), err)
	}
	return list, nil
}

// ListAt returns the snapshots of one moment, oldest first.
func ListAt(ctx context.Context, fsys *vfs.FS, at vfs.Moment) (list []Info, err error) {
	err = (*tree.Tree)(fsys).DB().View(ctx, func(db *schema.Tx) (err error) {
		list, err = selectBetween(db, at.Branch, at.Epoch, at.Epoch)
		return err
	})
	if err != nil {
		return nil, nameErr("snapshots", fsys.Name(), err)
	}
	return list, nil
}

// ListIn returns the snapshots of one branch, oldest first. The branch is given by its id, as moments have it.
func ListIn(tx *vfs.Tx, branch int64) ([]Info, error) { return selectOf((*tree.Tx)(tx).DB(), branch) }

// Open returns the snapshot called name. A name that no snapshot has is ENOENT.
func Open(ctx context.Context, fsys *vfs.FS, name string) (*Snapshot, error) {
	var info Info
	err := (*tree.Tree)(fsys).DB().View(ctx, func(db *schema.Tx) (err error) {
		info, err = selectOne(db, name)
		return err
	})
	if err != nil {
		return nil, nameErr("snapshot", name, err)
	}
	return At(ctx, fsys, info)
}

// At returns the snapshot of an Info that Create or List returned.
func At(ctx context.Context, fsys *vfs.FS, info Info) (*Snapshot, error) {
	past, err := fsys.At(ctx, info.Moment)
	if err != nil {
		return nil, nameErr("snapshot", info.Name, err)
	}
	return &Snapshot{FS: past, Info: info}, nil
}

// openIn is At inside the transaction that makes the snapshot. After the commit nothing may fail any more.
func openIn(tx *vfs.Tx, info Info) (*Snapshot, error) {
	past, err := momentIn(tx, info.Moment)
	if err != nil {
		return nil, nameErr("snapshot", info.Name, err)
	}
	return &Snapshot{FS: past, Info: info}, nil
}

// Delete removes a snapshot and frees its name. Branches that were forked from it stay. Rows that nothing else keeps
// are garbage for a collection.
func Delete(ctx context.Context, fsys *vfs.FS, name string) error {
	return nameErr("delete snapshot", name, deleteOne(ctx, fsys, name))
}

func deleteOne(ctx context.Context, fsys *vfs.FS, name string) error {
	var info Info
	err := (*tree.Tree)(fsys).DB().View(ctx, func(db *schema.Tx) (err error) {
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

// DeleteIn is [Delete] as a part of a transaction.
func DeleteIn(tx *vfs.Tx, name string) error {
	return nameErr("delete snapshot", name, deleteIn(tx, name))
}

func deleteIn(tx *vfs.Tx, name string) error {
	info, err := selectOne((*tree.Tx)(tx).DB(), name)
	if err != nil {
		return err
	}

	// The event belongs to the branch whose moment the snapshot is.
	if info.Moment.Branch != tx.Moment().Branch {
		head, err := headIn(tx, info.Branch)
		if err != nil {
			return err
		}
		on, err := (*tree.Tx)(tx).On((*tree.Tree)(head))
		if err != nil {
			return err
		}
		tx = (*vfs.Tx)(on)
	}
	return removeIn(tx, name)
}

// removeIn deletes the row of a snapshot and records the event on the branch of tx.
func removeIn(tx *vfs.Tx, name string) error {
	if err := remove((*tree.Tx)(tx).DB(), name); err != nil {
		return err
	}
	return (*tree.Tx)(tx).Record("snapshot-delete", ".", name)
}
