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
// time share a commit, and so one fsync. Each still fails alone, and has its own time, events and call. [FS.Update],
// RemoveAll, Copy, streams and files commit alone.
//
// Within an Update only the whole is all or nothing. If a verb fails midway and the function goes on, the directories that
// [Parents] made, or the part of a tree that Copy has copied, are committed. Return the error to undo it.
//
// # Errors
//
// An error is an [fs.PathError], or an [os.LinkError] where there are two names, around the errno that the verb has on
// POSIX. errors.Is finds [fs.ErrNotExist] and its kin in it, and [Errno] the number. Each verb lists only the errors that
// are not to be expected.
//
// # What happened
//
// A verb records what it changed in the same commit: the op, the path, the sums of content before and after. [FS.Log] reads
// that record. [FS.Watch] follows it, whichever process writes. [WithCall] connects changes with the call of a tool that
// made them. Events have numbers without gaps, so a watcher goes on exactly where it was.
//
// # Files
//
// A [File] is live, as on POSIX: it sees what others write to the same inode. [FS.OpenFrozen] opens one content for good:
// use it for what goes out of the store as a whole.
package vfs
