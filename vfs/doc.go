// Package vfs is a filesystem in one SQLite file: names, inodes, and the verbs of [os.Root] over them.
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
// transaction on a tree, with the same verbs. A path is relative to the root of the tree, with or without a slash in
// front; `.` and empty segments vanish, `..` is taken after symlinks and stops at the root. Names are bytes: anything
// but NUL and '/', at most 255, paths at most 4096. Where Go's os package and POSIX differ, POSIX wins.
//
// # Rows with a lifetime
//
// An entry (dirent) or an inode is a row of its branch that lives over the epochs [born, died). The head writes at the
// branch's present epoch. [Tx.Freeze] ends an epoch: rows written from then on are born in the next one, and what stood
// is still there for whoever reads at the moment that was frozen. That is the whole of a snapshot, and of a branch: a
// [Tx.Fork] reads through its own rows first, then those of the branch it came from as of the fork, and so on along its
// lineage. A name that an ancestor shows and the branch has removed is hidden by a row without an inode, a whiteout.
//
// The rules of writing are in four functions, [Tx].putDirent, dropDirent, putInode and dropInode, and nowhere else: a
// row born in this epoch is changed in place; an older one ends now and a new one is born; an inherited one is
// shadowed.
//
// # Commits
//
// A verb of an FS is all or nothing, and durable when it has returned. Short ones that wait for the write lock at the
// same time share a commit, and so one fsync: each is still all or nothing by itself, and has its own time, events and
// call. [FS.Update], RemoveAll, Copy, streams and files commit alone. Within an Update there is no such line
// around a verb: if its function goes on after a verb has failed midway, what that has done so far (the directories
// that [Parents] made, the part of a tree that Copy has copied) is committed. Return the error to undo it.
//
// # What happened
//
// A verb that changes something records it in the same commit: the op, the path, the sums of content before and after.
// [FS.Log] reads that record, [FS.Watch] follows it as it grows, in whatever process, and [WithCall] says in the course
// of what it grows. Rows are numbered in the order of commits without gaps, so a watcher that gives the last number it
// has seen goes on exactly there.
//
// # What is kept in memory
//
// What was looked up is cached, and a verb whose whole answer is in memory, content included, begins no transaction. The
// cache is never stale: a commit by another process clears it, and one by this process drops what it wrote. A look at
// memory that SQLite shares between processes finds that out in nanoseconds. Past moments, and contents, never change; what
// is cached of them is valid for good. ARCHITECTURE.md has a page on all memories and their bounds.
//
// # Files
//
// The bytes of a file are in package chunk; an inode only names them. A [File] is live, as on POSIX: within one open
// store, Files that have the same inode open share what was written and is not committed, and what others have
// committed is seen at the next call, which costs nothing as long as nobody commits. [FS.OpenFrozen] opens one content
// for good: that is what goes out of the store as a whole.
package vfs
