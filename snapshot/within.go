package snapshot

import (
	"context"
	"time"

	"vfsdb/vfs"
)

// CreateIn is [Create] as a part of a transaction on the head of a branch.
func CreateIn(tx *vfs.Tx, name, note string) (Info, error) {
	if name == "" {
		name = madeUpName("snap")
	}
	info := Info{Name: name, Created: time.Now(), Note: note}
	if err := create(tx, &info); err != nil {
		return Info{}, nameErr("snapshot", name, err)
	}
	return info, nil
}

// ListIn returns the snapshots of a branch, oldest first. The branch is told by the id that its moments have.
func ListIn(tx *vfs.Tx, branch int64) ([]Info, error) { return selectOf(tx.DB(), branch) }

// DeleteIn is [Delete] as a part of a transaction.
func DeleteIn(tx *vfs.Tx, name string) error {
	return nameErr("delete snapshot", name, deleteIn(tx, name))
}

// deleteIn records the deletion on the branch that the snapshot is a moment of.
func deleteIn(tx *vfs.Tx, name string) error {
	info, err := selectOne(tx.DB(), name)
	if err != nil {
		return err
	}
	if info.Moment.Branch != tx.Moment().Branch {
		head, err := tx.Branch(info.Branch)
		if err != nil {
			return err
		}
		if tx, err = tx.On(head); err != nil {
			return err
		}
	}
	return removeIn(tx, name)
}

// RestoreIn is [Restore] as a part of a transaction on the head of a branch. What the head was is kept under a name and
// with a note of the caller's; an empty name makes one up. The tree was found before the transaction began.
func RestoreIn(tx *vfs.Tx, to Tree, name, note string) (Info, error) {
	if name == "" {
		name = madeUpName("undo")
	}
	undo := Info{Name: name, Created: time.Now(), Note: note}
	if err := restore(tx, to, &undo); err != nil {
		return Info{}, nameErr("restore", name, err)
	}
	return undo, nil
}

// restore makes the head what a tree is, and names what it was. What open files have written and not committed belongs
// to that: it is replaced as the rest, so it must come back as the rest.
func restore(tx *vfs.Tx, to Tree, undo *Info) error {
	if err := tx.TakeWrites(); err != nil {
		return err
	}
	if err := create(tx, undo); err != nil {
		return err
	}
	_, err := tx.Restore(to.Tree())
	return err
}

// At stands on the moment of a snapshot that was listed.
func At(ctx context.Context, fsys *vfs.FS, info Info) (*Snapshot, error) {
	return open(ctx, fsys, info)
}
