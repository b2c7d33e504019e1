// Package gc collects garbage: inodes without names, rows that no tree shows any more, and the chunks and manifests
// that only those referred to. This process and others may read and write meanwhile. If a collection is cut short, by
// its context or by kill -9, the next one finishes its work.
//
//	report, err := gc.Run(ctx, fsys, nil)
//
// # The order of a collection
//
// A collection is many short transactions. None holds the write lock for more than a few milliseconds, and between two
// of them others can write. These transactions are not synced: the next synced commit of another writer, or the end of
// the collection, makes them durable. A loss of power leaves the file as it was after one of the steps, just as the
// death of the process does.
//
//	barrier   from now on every transaction notes in touched the content that it makes a reference to
//	grace     every process publishes, as pins, the content that its open files need
//	reap      orphans are removed from the heads, and rows that no epoch shows are deleted
//	trim      the oldest rows of the log are deleted
//	mark      every inode row that is left, and every pin, marks its blob, or its manifest and the blobs of that
//	doom      content that is not marked, and is not newer than the floor, is listed in doomed
//	grace     once more
//	sweep     content that was touched or is pinned leaves the list; the rest of the list is deleted, in small steps
//	vacuum    free pages go back to the file system
//
// # Why nothing is lost
//
// Let a content be in use: some row, some open file, or some stream that is being written needs it.
//
//   - A row that stood before the barrier and still stands when the mark reaches it is seen by the mark. A row moves
//     only forward in the order of the mark: it moves when it dies, to an epoch later than all others of its inode.
//   - A row that was made, or got other content, after the barrier is in touched, whether the mark saw it or not. Each
//     step of the sweep heeds touched in its own transaction, so there is no moment between the check and the
//     deletion.
//   - A file that was opened frozen before the second grace round has its content pinned when the sweep begins. A file
//     that was opened later read its content from a row that stood after the doom; such content is not doomed, or it
//     is touched. This does not hold for a process that can write nothing: one that opened the store read-only, or
//     found the disk full. Content that was removed since may fail to read there, as damage. It never reads as other
//     content.
//   - A stream holds a lease with a floor below all blobs that it added. The blobs that it found instead of adding are
//     pinned, and touched while a collection runs. When the stream commits while a collection runs, it touches all.
//   - Any other open file pins its inode before the inode can become an orphan that is reaped: only orphans are reaped
//     that were queued before the first grace round began. The file reads the content of that row, at the moment of
//     each call.
//   - Content that is stored over a base needs the base, and may be stored in the moment before the base is deleted.
//     So the transaction that deletes a base checks whether content is stored over it, and this needs no entry in
//     touched. Content that is deleted together with its base is deleted before it.
//
// A grace round also deletes the leases of the dead. The lease of a process that is provably gone is deleted at once. A
// lease whose heartbeat is older than a minute is deleted if its process does not answer for a few seconds, because a
// machine that slept wakes up with old heartbeats. A process that alone was suspended for that long loses its lease:
// its streams start over, and its open files may fail.
//
// Manifests are deleted before blobs, and a manifest that is kept as the base of another is kept with its blobs. So no
// manifest ever names a blob that is missing.
//
// Any read that fails ends the collection, and before the sweep no content is deleted. No collection begins in a file
// where an index disagrees with its table of branches, lineages, snapshots, leases or pins, because those tables say
// which content is kept. None goes on with a list of doomed content that is in use.
//
// # Compaction
//
// [Compact] makes the content that stays smaller. It reads and compresses blobs outside of any write transaction, then
// swaps them for packs in short ones, each of which checks that the blob still exists and is stored as it was. It makes
// no content reachable and none unreachable, so it may run beside a collection. A pack is deleted with the last blob in
// it. The next Compact rewrites a pack that has lost most of its blobs.
package gc
