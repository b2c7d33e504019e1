// Package apply brings the changes of a branch into a directory of the host: the last mile of work that was done in a store.
//
//	result, err := apply.To(ctx, attempt, "/home/me/project", nil)
//	for _, c := range result.Conflicts {
//		fmt.Println(c.Path, c.Why)
//	}
//
// # A merge
//
// An apply is a merge of three trees, by package merge. The base is what the directory was when the branch began. Theirs is the
// branch. Ours is the directory as it is now. Texts that both sides changed are merged by line. What conflicts stays as the
// directory has it, and is listed.
//
// Of the directory only those paths are looked at that the branch changed, and of those only such files are read whose size or
// modification time is neither that of the base nor that of the branch. So an apply costs as much as the branch has changed,
// whatever the size of the directory. A file that the base does not have is an addition of the directory's, also one that an
// import left out: it is never removed, and never replaced. A file that someone has renamed in the directory is not
// recognized: an edit of it by the branch conflicts.
//
// The merge happens in a transaction that is rolled back. The store keeps nothing of it.
//
// # The base
//
// The base is the one that the caller names; or else what the last complete apply of the branch to this directory has brought, of
// which it keeps a snapshot; or the snapshot that a run over a directory has left, BRANCH-base; or the moment at which the branch was
// forked. A wrong base makes conflicts. It never makes an apply replace a file that it does not know.
//
// # Writing
//
// Each file is written under another name in its directory, with all its attributes, and renamed. Just before that the
// file in its place is looked at again: if it is not the one of the first look, that is a conflict too. New names come before
// old ones go. So a process that is killed at any moment leaves files that are either old or new, and the next apply does the rest:
// where the directory is as the branch has it, nothing is left to do. It also removes the file that was being written.
//
// A complete apply syncs the directory before it keeps the base of the next one, so that this holds after a loss of power too. On
// Linux that syncs the file system that the directory is on. Where the store is opened with vfs.Options.Relaxed, nothing is
// synced.
//
// All goes by the descriptors of directories, and no symlink leads out of them. So nothing outside of the directory is ever
// written, whatever other programs rename meanwhile.
package apply
