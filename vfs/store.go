package vfs

import (
	"context"

	"vfsdb/schema"
	"vfsdb/tree"
)

// A Store is the file that trees are of. All trees that come from one [Open] have the same Store, to be compared with
// ==. It is safe for concurrent use.
type Store tree.Store

// Store returns the store that the FS is a tree of.
func (fsys *FS) Store() *Store { return (*Store)(fsys.tree().Store()) }

func (st *Store) tree() *tree.Store { return (*tree.Store)(st) }

// Path returns the absolute path by which the file was opened.
func (st *Store) Path() string { return st.tree().DB().Path() }

// ID returns what identifies the file, and copies of it, since its creation.
func (st *Store) ID(ctx context.Context) (id string, err error) {
	err = st.tree().DB().View(ctx, func(tx *schema.Tx) (err error) {
		id, err = tx.ID()
		return err
	})
	return id, pathErr("id", st.Path(), err)
}

// Format returns the version of the file's format.
func (st *Store) Format(ctx context.Context) (version int64, err error) {
	err = st.tree().DB().View(ctx, func(tx *schema.Tx) (err error) {
		version, err = tx.Version()
		return err
	})
	return version, pathErr("format", st.Path(), err)
}

// InPlace fails with ESTALE once its path leads to another file, or none.
func (st *Store) InPlace() error { return st.tree().DB().InPlace() }

// ReadOnly reports whether writes are refused with EROFS.
func (st *Store) ReadOnly() bool { return st.tree().DB().ReadOnly() }

// SetReadOnly refuses every write of this process to the store with EROFS, or allows them again. A running transaction
// is refused at its commit; a File keeps its uncommitted writes. [Options].ReadOnly cannot be undone.
func (st *Store) SetReadOnly(on bool) { st.tree().DB().SetReadOnly(on) }

// Backup writes a consistent, compact copy to a new file while others read and write. dest must not exist (EEXIST); it
// appears whole or not at all.
func (st *Store) Backup(ctx context.Context, dest string) error {
	return st.tree().DB().Backup(ctx, dest)
}

// Checkpoint folds what it can of the log into the file without waiting, and returns how many pages of it are left.
// The store does so by itself.
func (st *Store) Checkpoint(ctx context.Context) (left int64, err error) {
	left, err = st.tree().DB().Checkpoint(ctx)
	return left, pathErr("checkpoint", st.Path(), err)
}
