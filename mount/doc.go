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
// [Attach] and [FrozenOn] are the two halves of Frozen, for a mount in namespaces of its own.
//
// A mount by root is for all users of the host, and modes and owners decide what each may read. A mount by a user is for
// this user alone, who can read the store anyway: modes and owners are shown, and refuse nothing.
//
// The room speaks of nodes by number, as the kernel does, and so stands on tree. Only this room knows FUSE.
package mount
