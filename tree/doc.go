// Package tree is the tree of a store: inodes and the entries of directories, by number, as they were at any moment of any
// branch.
//
// # The model
//
// A [Store] is one open file. A [Tree] stands in it on the head of a branch, which can be written, or on a past moment, which
// cannot. A [Tx] is one transaction on a tree.
//
// A directory is a number, and an entry is a [Place]: a directory and a base name. The rooms above take paths apart and end
// with a place; nothing here does. So a mount, which is handed numbers and names by the kernel, can stand on this room
// directly. Errors are bare errnos: a room above, which knows the path and the verb, wraps them once.
//
// # Rows with a lifetime
//
// Rows of the tables inode and dirent are born in one epoch of a branch and die in another. A snapshot ends an epoch, see
// [Tx.Freeze], and a fork begins a branch whose lineage leads to the moment that it was made from, see [Tx.Fork]. Both cost
// some rows, however large the tree is. A write at the head changes the row in place if it was born in this epoch, and else
// ends its life and begins another. A read goes through the levels of the lineage, nearest first.
//
// # Operations
//
// Create, Link, Unlink, RemoveTree, Rename, SetAttr, SetContent and Copy are the operations that change a tree. Each is one
// body, changes rows, and records what it did in the journal. [Compare], [Base] and [Tx.Restore] are what histories are
// compared and brought back by.
//
// # Memory
//
// Transactions that read share a dentry cache, an inode cache and a path cache; ARCHITECTURE.md says what each holds, for how
// long, what clears it and what bounds it. A [Handle] is an open inode: all handles of one store see what was written through
// any of them and is not committed yet.
//
// Tables written here: branch, lineage, inode, dirent, orphan.
package tree
