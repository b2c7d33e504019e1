// Package gc gives back what no tree can reach: inodes without names, rows of a history that nobody keeps, and the
// chunks and manifests that only those pointed at. Anybody may read and write meanwhile, in this process and others,
// and a collection that is cut short, by its context or by kill -9, is finished by the next one.
//
//	report, err := gc.Run(ctx, fsys, nil)
//
// # The order of a collection
//
// A collection is many short transactions. None holds the write lock for more than a few milliseconds, and between two
// of them it lets others in. They are not synced: a commit of somebody else that is, or the end of the collection,
// makes durable what came before it. A loss of power leaves the file as it was after one of the steps, as the death of
// the process does.
//
//	barrier   from now on every transaction notes the content that it makes a reference to, in touched
//	grace     every process publishes, as pins, what its open files need
//	reap      orphans are taken off the heads, and rows that no epoch shows are deleted (package vfs)
//	trim      the oldest rows of the log go (package vfs)
//	mark      every inode row that is left, and every pin, marks its blob or its manifest, and that its blobs
//	doom      what is not marked, and is not newer than the floor, is written down in doomed
//	grace     once more
//	sweep     what was touched or is pinned is taken off the list; what is left on it is deleted, a little at a time
//	vacuum    free pages go back to the file system
//
// # Why nothing is lost
//
// Let a content be in use: some row, or some open file, or some stream that is being written needs it.
//
//   - A row that stood before the barrier and still stands when the mark comes by is seen by it. A row moves only
//     forward in the order of the mark, since it moves when it dies, to an epoch later than all others of its inode.
//   - A row that was made, or got other content, after the barrier is in touched, whether the mark saw it or not. Each
//     step of the sweep heeds touched in its own transaction, so there is no moment between looking and deleting.
//   - A file that was opened frozen before the second grace round has its content pinned when the sweep begins. One that
//     was opened after it read its content off a row that stood after the doom, and such content is not doomed, or touched.
//     This does not hold for a process that can write nothing: one that opened the store read-only, or found the disk
//     full. What was removed since may fail to read there, as damage; it never reads as something else.
//   - A stream holds a lease whose floor is below all blobs that it added; those that it found were pinned, and while
//     a collection runs touched. When it commits while a collection runs, it touches all of them.
//   - Any other open file pins its inode before the inode can have become an orphan that is reaped: only orphans are
//     reaped that were queued before the first grace round began. What it reads is the content of that row, at the moment
//     of each call.
//   - What is stored over a base cannot do without it, and may come to be in the moment before the base would go. So
//     whether a base has anything over it is looked at where it is deleted, in that transaction, and needs no entry in
//     touched. What goes with its base goes before it.
//
// Leases of the dead are deleted by a grace round: of processes that are provably gone at once, of those whose
// heartbeat is older than a minute once they have not answered for a few seconds, since a machine that slept wakes up
// with old heartbeats. A process that alone was suspended for so long finds its lease gone; its streams start over, and
// its open files may fail.
//
// Manifests are deleted before blobs, and one that is kept for another to be stored over it is kept with its blobs, so
// no manifest ever names a blob that is missing. Any read that fails ends the collection, and as long as it has not
// come to the sweep no content was deleted. None begins in a damaged file where an index does not have what its table of
// branches, lineages, snapshots, leases or pins says is kept, nor goes on with a list of doomed content that is in use.
//
// # Compaction
//
// [Compact] makes what stays smaller. It reads blobs and compresses them outside of any write transaction, then swaps
// them for packs in short ones, in which it looks again whether each blob is still there and stored as it was. It makes
// no content reachable and none unreachable, so it may run beside a collection. A pack goes with the last blob in it;
// one that has lost most of them is made anew by the next Compact.
package gc
