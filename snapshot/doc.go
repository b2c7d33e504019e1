// Package snapshot gives names to moments of a tree, forks branches from them, compares two trees, and brings a branch
// back to the state of another tree.
//
//	base, err := snapshot.Create(ctx, fsys, "before-refactor", nil)
//	try, err := snapshot.Branch(ctx, fsys, base, "attempt-2") // a *vfs.FS: writable, isolated
//	for c, err := range snapshot.Diff(ctx, base, try) { ... }
//	undo, err := snapshot.Restore(ctx, fsys, base)
//
// # Trees and names
//
// A [Tree] is either a *vfs.FS, which is the head of a branch, or a [Snapshot], which is a *vfs.FS of a past moment
// with a name. Both can be read, compared, forked and restored; a snapshot refuses writes with EROFS. Snapshots and
// branches share one space of names, so a name alone identifies its tree; [Resolve] finds it. [ResolveRef] also finds moments
// that have no name, such as main@{2 hours ago}, as long as no collection has taken them.
//
// # Cost
//
// A snapshot writes one row. A branch writes one row, and one more for each level of its lineage. Neither depends on
// the size of the tree. A diff and a restore cost as much as was changed since the two trees were one.
//
// # Forgetting
//
// [Prune] drops the snapshots that a [Policy] does not keep: so many of the newest, one of each of the last days, and so on.
// Those that nobody asked for have a policy of their own, because each restore and each merge leaves one.
//
// # History
//
// Every snapshot, branch and restore is an event in the log, in the same commit. [Restore] first names the state that
// it replaces, so it can be undone. [Blame] follows the log back to the event that last touched each line of a file,
// and [Standings] counts how far each branch and its base have moved apart.
//
// [RestorePieces] brings single files and directories back, and leaves the rest.
//
// CreateIn, ListIn, DeleteIn, RestoreIn and RestorePiecesIn do the same as a part of the caller's own transaction.
//
// The room writes no table itself: the rows of snapshots, branches, entries and inodes belong to the rooms below.
package snapshot
