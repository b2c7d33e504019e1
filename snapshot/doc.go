// Package snapshot names moments of a tree's history, forks branches from them, tells two trees apart, and brings a
// branch back to what another tree is.
//
//	base, err := snapshot.Create(ctx, fsys, "before-refactor", nil)
//	try, err := snapshot.Branch(ctx, fsys, base, "attempt-2") // a *vfs.FS: writable, isolated
//	for c, err := range snapshot.Diff(ctx, base, try) { ... }
//	undo, err := snapshot.Restore(ctx, fsys, base)
//
// A snapshot costs one row, a branch one row and one for each level of its lineage, at any size of the tree. A diff
// and a restore cost what was changed.
//
// What may be compared, forked or restored is a [Tree]: a *vfs.FS, which is a branch as it is now, or a [Snapshot],
// which is an *vfs.FS of a past moment with a name, and refuses writes with EROFS. Snapshots and branches share one
// space of names, so that a name alone says which is meant.
//
// The package writes the table snapshot, and knows no inode rows: those are package vfs's.
package snapshot
