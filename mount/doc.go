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
// A request of the kernel costs the waiting program many times a system call. So if a program reads small files in order, the
// mount stores the contents of the next ones in the kernel before they are read, see ahead.
//
// [OpenDevice] and [ServeDevice] are the two halves of Frozen, for a mount in namespaces of its own.
//
// A mount by root is for all users of the host, and modes and owners decide what each may read. A mount by a user is for
// this user alone, and this user can read the store anyway: modes and owners are shown, and refuse nothing.
// Files of user 0 or group 0, such as the root of a store and all that the API makes, are shown as this user's: programs such
// as git work only in a directory of their own user.
//
// # A live tree
//
// [Live] serves the head of a branch, for reading and writing. Changes are gathered in a transaction of at most 20 ms. A
// reader of the mount sees them at once, other readers see them when the transaction is committed. Until then the mount
// holds the lock of writers, so a writer elsewhere waits that long. The data of files waits in memory meanwhile;
// once it is 4 MiB, its commit begins beside the writes that follow.
//
// The commit of a batch survives the end of the process, but not a loss of power: fsync of any file or directory makes
// everything durable that was changed before, and so does the end of the mount. A mount that is killed loses the batch that
// was open. close(2) commits nothing: a file that was closed survives a kill once it was closed for 20 ms, or synced. A
// commit for each close would make creation of a small file take 2.6 times the processor time, and each close of a file
// that was only read would wait for this process. With a negative [LiveOptions.Gather] each change is committed before it
// returns, so a kill loses nothing.
//
// A commit can fail because the disk is full or the database is damaged. Then the changes of that batch are gone: the mount
// invalidates them in the kernel, and the next fsync reports the loss. The data of files that existed before the batch is
// kept, and committed later. A file that was lost with its batch is ESTALE or EIO to the programs that have it open. If the
// disk has less than 256 MiB left, each change is a commit of its own, so the program that makes a change gets the error.
//
// The kernel caches names, attributes and contents here too, without a time limit. It knows its own changes. Changes by
// others, through this store or another one, reach the mount as events of the journal, and the mount invalidates the caches:
// a change is seen some milliseconds after its commit. The kernel's writeback cache is off, because with it the kernel would
// ignore the new size of a file that somebody else has changed.
//
// A file whose last name is removed stays as long as a program has it open, also if others removed the name. A listing is in the
// order of a hash of its names, so it can go on from any place whatever has changed since.
//
// Locks are the kernel's: they hold between the programs of one mount. A program must not start another one whose working
// directory is in a mount that it serves itself: while it forks, it cannot answer the kernel. Nor may it touch memory that it
// has mapped from a file there: the garbage collector waits for the page, and the page for the collector.
//
// # All trees
//
// [All] shows the branches and the snapshots of a store below one directory. Each tree that the kernel asks for has a slot.
// The slot is the upper part of the inode numbers of the tree. A snapshot is a frozen tree, and is held as long as the kernel
// knows an inode of it: look-ups and FORGETs are counted. A branch is read at its head. The kernel's cache of it is valid
// for half a second, and events of the journal invalidate it earlier.
//
// The room uses nodes by number, as the kernel does, and so stands on tree. No other room imports go-fuse.
package mount
