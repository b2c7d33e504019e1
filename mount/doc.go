// Package mount shows a tree of a store as a directory of the host, through FUSE.
//
//	m, err := mount.Frozen(ctx, fsys, "/mnt/before")
//	...
//	err = m.Unmount()
//
// # A frozen tree
//
// [Frozen] serves one moment: a snapshot, or a branch as it is at the call. Nothing in it can change, so the kernel keeps
// names, attributes and contents for good and asks for each of them once. The mount is read-only: every change is EROFS.
// Inode numbers, link counts, owners, 12 mode bits and times are the tree's own. The moment is kept for as long as the
// mount lasts, whether a snapshot has it or not.
//
// Each question of the kernel costs the program that waits for it many times a system call. So a program that reads small
// files in order gets those behind them unasked: their contents are stored in the kernel, see ahead.
//
// [OpenDevice] and [ServeDevice] are the two halves of Frozen, for a mount in namespaces of its own.
//
// A mount by root is for all users of the host, and modes and owners decide what each may read. A mount by a user is for
// this user alone, who can read the store anyway: modes and owners are shown, and refuse nothing.
//
// # A live tree
//
// [Live] serves the head of a branch, for reading and writing. Changes are gathered in a transaction of at most 20 ms. A
// reader of the mount sees them at once, everybody else when it is committed. Until then the mount holds the lock of
// writers, so a writer elsewhere waits that long. What is written to files waits in memory for as long.
//
// The commit of a batch survives the end of the process, but not a loss of power: fsync of any file or directory makes
// everything durable that was changed before, and so does the end of the mount. A mount that is killed loses the batch that
// was open. If a commit fails, for want of room on the disk or because the file is damaged, the changes of that batch are
// gone, the kernel is told so, and the next fsync reports it; what was written to files that were there before is kept, and
// tried again. Where the disk has less than 256 MiB left, each change is a commit of its own, so the program that makes a
// change gets the error. A file that was lost with its batch is ESTALE or EIO to the programs that have it open.
//
// The kernel keeps names, attributes and contents here too, without a limit of time. What it changes itself it knows. What
// others change, through this store or another one, the feed of the journal tells, and the mount has the kernel drop that: a
// change is seen some milliseconds after its commit. There is no writeback cache in the kernel, because with one it would
// never believe the size of a file that somebody else has changed.
//
// A file whose last name is removed stays as long as a program has it open, also if others removed the name. A listing is in the
// order of a hash of its names, so it can go on from any place whatever has changed since.
//
// Locks are the kernel's: they hold between the programs of one mount. A program must not start another one whose working
// directory is in a mount that it serves itself: while it forks, it cannot answer the kernel.
//
// # All trees
//
// [All] shows the branches and the snapshots of a store below one directory. Each tree that the kernel asks for has a slot,
// which is the upper part of the numbers of its inodes. A snapshot is a frozen tree, and is held while the kernel knows an
// inode of it: its FORGETs are counted. A branch is read at its head: what the kernel keeps is valid for half a second, and
// the change feed has it dropped before that.
//
// The room speaks of nodes by number, as the kernel does, and so stands on tree. Only this room knows FUSE.
package mount
