package vfs

import (
	"context"

	"vfsdb/schema"
	"vfsdb/tree"
)

// A Store is the file that an [FS] is a tree of, as long as it is open: what concerns the file as a whole is here. All trees
// that come from one [Open] have the same Store, so two can be compared with ==. It is safe for concurrent use.
type Store tree.Store

// Store returns the store that the FS is a tree of.
func (fsys *FS) Store() *Store { return (*Store)(fsys.tree().Store()) }

func (st *Store) tree() *tree.Store { return (*tree.Store)(st) }

// Path returns the path of the file, absolute, as it was when it was opened.
func (st *Store) Path() string { return st.tree().DB().Path() }

// ID returns what was given to the file when it was created. A copy of the file has the same.
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

// InPlace fails with ESTALE once another file, or none, is where the store was opened: nothing can be committed any more.
func (st *Store) InPlace() error { return st.tree().DB().InPlace() }

// ReadOnly reports whether writes are refused with EROFS.
func (st *Store) ReadOnly() bool { return st.tree().DB().ReadOnly() }

// SetReadOnly refuses every write to the store with EROFS from now on, or allows them again. It holds for every FS and
// File of this process that stands on the store, and not for other processes. A running transaction is refused at its
// commit, and a File keeps its uncommitted writes. A store opened with [Options].ReadOnly stays read-only.
func (st *Store) SetReadOnly(on bool) { st.tree().DB().SetReadOnly(on) }

// Backup writes a consistent, compact copy of the whole store to a new file while others read and write.
// dest must not exist (EEXIST); it appears whole or not at all.
func (st *Store) Backup(ctx context.Context, dest string) error {
	return st.tree().DB().Backup(ctx, dest)
}

// Checkpoint folds as much of the log into the file as it can without waiting for readers or writers, and returns how many
// pages of the log are left. The store does so by itself; it is for a program that looks at the file itself.
func (st *Store) Checkpoint(ctx context.Context) (left int64, err error) {
	left, err = st.tree().DB().Checkpoint(ctx)
	return left, pathErr("checkpoint", st.Path(), err)
}
