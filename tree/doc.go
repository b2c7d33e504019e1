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
// An entry (dirent) or an inode is a row of its branch that lives over the epochs [born, died). The head writes at the
// branch's present epoch. [Tx.Freeze] ends an epoch: rows written from then on are born in the next one, and the rows that
// stood are still there for a reader at the moment that was frozen. That is the whole of a snapshot. It is the whole of a
// branch too: a [Tx.Fork] reads through its own rows first, then through those of the branch it came from as of the fork,
// and so on along its lineage. A name that an ancestor shows and the branch has removed is hidden by a whiteout, a row
// without an inode. Both cost some rows, however large the tree is.
//
// The rules of writing are in four functions, putDirent, DropDirent, putInode and DropInode, and nowhere else. A row born in
// this epoch is changed in place. An older one ends now, and a new one is born. An inherited one is shadowed.
//
// # Operations
//
// Create, Replace, Link, Unlink, RemoveTree, Rename, SetAttr, SetContent and CopyTree are the operations that change a tree. Each is one
// body, changes rows, and records what it did in the journal. [Compare] compares two trees, and the
// functions of rows.go change one row each, for rooms that make one tree equal to another.
//
// # Memory
//
// A transaction asks the caches of room memory before it reads a row. A [Handle] is an open inode: all handles of one store
// see uncommitted writes through any of them.
//
// Tables written here: inode, dirent, orphan.
package tree
