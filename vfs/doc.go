// Package vfs is a filesystem in one SQLite file: paths, and the verbs of [os.Root] over them.
//
//	fsys, err := vfs.Open(ctx, "agent.db", nil)
//	err = fsys.WriteFile(ctx, "notes/todo.md", data, 0o644, vfs.Parents())
//	err = fsys.Update(ctx, func(tx *vfs.Tx) error { // several verbs, one commit
//		if err := tx.Rename("plan.md", "plan.old.md"); err != nil {
//			return err
//		}
//		return tx.WriteFile("plan.md", next, 0o644)
//	})
//
// # Trees
//
// An [FS] is one tree: the head of a branch, or a past [Moment] of one, which refuses writes with EROFS. A [Tx] is one
// transaction on a tree, with the same verbs. A [Store] is the file that trees are of. Package snapshot makes branches and
// names moments.
//
// A path is relative to the root of the tree, with or without a slash in front. `.` and empty segments vanish; `..` is
// taken after symlinks, and stops at the root. Names are bytes: anything but NUL and '/', at most 255, paths at most 4096.
// Where Go's os package and POSIX differ, POSIX wins.
//
// # Commits
//
// A verb of an FS is all or nothing, and durable when it has returned. Short verbs that wait for the write lock at the same
// time share a commit, and so one fsync. Each is still all or nothing by itself, and has its own time, events and call.
// [FS.Update], RemoveAll, Copy, streams and files commit alone.
//
// Within an Update there is no such line around a verb. If a verb fails midway and the function goes on, what the verb has
// done so far is committed: the directories that [Parents] made, the part of a tree that Copy has copied. Return the error
// to undo it.
//
// # What happened
//
// A verb that changes something records it in the same commit: the op, the path, the sums of content before and after.
// [FS.Log] reads that record. [FS.Watch] follows it as it grows, whichever process writes. [WithCall] connects changes with
// the call of a tool that made them. Events are numbered in the order of commits without gaps, so a watcher that gives the
// last number it has seen goes on exactly there.
//
// # Files
//
// A [File] is live, as on POSIX. Files of one open store that have the same inode open share what was written and is not
// committed yet. They see what others have committed at the next call, which costs nothing as long as nobody commits.
// [FS.OpenFrozen] opens one content for good: that is what goes out of the store as a whole.
//
// # Reading the source
//
// This package takes paths apart, checks the preconditions of a verb, and names the verb and the path in errors. The
// operations themselves are in package tree, by number; their bytes are in package chunk, their record in package journal.
// [FS] and [Tx] are defined over the types of package tree, so rooms beside this one can convert them.
package vfs
