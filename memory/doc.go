// Package memory holds the data that a process keeps of the trees of a store: caches of rows that were read, and the
// uncommitted writes of open files.
//
// # Caches
//
// A [Memory] is what one transaction knows of its tree without reading rows: a dentry cache, an inode cache, and more. It
// has two forms.
//
// Transactions that read share the tables of [Shared]. An entry is valid for a [Generation], the time from one commit to the
// next, by any process. After a commit of this process only the names and inodes that it listed are dropped, and the rest
// is carried over. A transaction that writes lists them by InvalidateName and InvalidateNode, or calls [Carry] if no tree
// shows what it writes. One that does neither invalidates everything, so forgetting a call costs time, not truth.
//
// Transactions that write use an [Own], which belongs to their connection. It holds what is not committed too.
//
// # Open inodes
//
// An [OpenInode] holds the uncommitted writes of all handles that one store has on a file. A transaction seals them into a
// [Layer], folds the layer into the content, and drops it once that is committed.
//
// The room reads and writes no table. ARCHITECTURE.md lists what each memory holds, for how long, and what bounds it.
package memory
