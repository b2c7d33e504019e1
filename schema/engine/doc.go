// Package engine reaches below SQLite's statements, for six things that they cannot do. The unsafe code of this module
// is here, but for that of the tests' host in powerloss. Where one of the six cannot be had, everything goes on without
// it, only slower.
//
//   - An [Index] tells in a few nanoseconds, without a transaction or a system call, whether anybody has committed
//     since the last look: another goroutine, another process, or a program that is not ours.
//   - [Gather] has a connection write its commits to the log in few, long writes.
//   - [SyncCheckpoints] has a connection sync what each of its checkpoints has copied.
//   - Both write again what a failed sync may have dropped.
//   - A [Descriptor] tells which file a connection has open, wherever its path leads by now.
//   - On Linux, pages in memory lie side by side, where the host can give a large page for 240 of them.
//
// # What equal headers prove
//
// SQLite keeps the index of a log in shared memory, which every process that has the file open maps. It begins with a
// header of 48 bytes, and behind it a second copy. A commit writes its frames to the log, makes them durable, then
// writes the second copy, then the first; only then has it happened for readers, and only then does COMMIT return. An
// [Index] reads the first copy.
//
// Two equal headers mean that nothing was committed between the two looks. Of what is in a header, the salts name a
// generation of the log, and mxFrame says how many of its frames are committed. Committed frames are never written over
// within a generation, so salts and mxFrame name one content of the database. (The sum over all frames, the count of
// commits and the header's own sum must be equal too.) In particular:
//
//   - A checkpoint copies frames into the database. That changes no content, and no header.
//   - A log that is begun anew gets other salts, before its first frame.
//   - When a process dies while it writes a header, the two copies differ, or the sum is wrong. The next one to read
//     takes all locks and makes the header from the log: the salts of the log, and its committed frames. That is the
//     same content for the same header, as before. Only the count of commits begins at 0 again, so it proves nothing by
//     itself.
//   - A log without a frame has no salts to recover: its header is the same for every content. So zero salts are no
//     header: Read reports false. As this is how every file begins that was closed properly, OpenIndex begins the empty
//     log anew, which gives it salts and writes nothing to the disk.
//   - A torn look, while a commit is writing the first copy, may mix words of two headers. If the mix is equal to an
//     earlier header, then a word that the commit changes was not written yet: the commit has not returned, and an
//     answer from before it is right. No other equality is left but that of sums of 64 bits, by chance.
//
// The last process to close the file removes the log and its index. It needs an exclusive lock on the file for that, as
// does whoever leaves WAL mode, which the connection of an open Index does not let them have.
//
// # Why gathering loses nothing
//
// SQLite writes each page of a commit to the log by itself, in two calls: 24 bytes that begin a frame, then the page.
// And a log that is new, or was emptied, grows with every commit, which the host has to note before the commit is
// durable: that costs as much again as the sync itself. [Gather] collects what follows upon each other in memory, up to
// 124 KiB, and makes the log grow in steps: behind a commit that made it longer it writes zeros for some that come
// after.
//
// What is in memory only is what no other connection could read, and what SQLite has not asked to be durable:
//
//   - A frame says, in its first bytes, whether it ends a commit. With the page of such a frame everything is written
//     at once, before xWrite returns: so before the commit is synced, before it enters the index of the log, and with
//     the error if it fails.
//   - A sync, a truncation, a question for the size, and a read of what is in memory write it first. So does a write
//     elsewhere: what is in memory is one piece, and the order of writes stays. Where that fails, what is in memory
//     stays there, and SQLite is told: mostly it rolls the transaction back, but only the statement if that changes
//     many rows and found the disk full while it read. Then the transaction goes on, and what it has written before is
//     written with what follows.
//   - When the write lock on the log is given back, what is in memory is of a transaction that was rolled back, and is
//     forgotten: another process may write there from now on.
//
// Zeros are written only beyond all that the connection has ever written or seen, in the midst of a commit of its own.
// Frames that count lie below, because there is one writer; so what is overwritten does not count. Zeros are no frame:
// the number of a page is never 0. Whoever makes the index from the log after a crash stops at them, as at frames of an
// older generation.
//
// # Why checkpoints sync more
//
// SQLite copies frames of the log into the file, and syncs the file only when there is nothing left to copy. Beside a
// hot writer there always is, until somebody keeps the writer from writing: then the little that is left is copied, but
// all that was written to the file before it is synced, while the writer waits. [SyncCheckpoints] only adds a sync
// where SQLite tells the file that a checkpoint has copied all it will.
//
// # Why a failed sync loses nothing
//
// When a disk does not take what is in the page cache, Linux drops it: the pages are clean from then on, so no later
// sync writes them, and the failure is reported by one sync of each descriptor that was open when it happened. A sync
// that succeeds after one that failed proves nothing about what was written before.
//
// SQLite alone can live with that as long as each commit is synced. A commit whose sync fails is no commit, and the next
// one writes over its frames. But the commits of [vfsdb/schema.DB.Stage] are not synced: their frames lie before those
// of a commit that is. If both are dropped, the next commit writes only the second anew. Its own sync succeeds, it is
// acknowledged, and after a loss of power the log ends at the hole before it. And SQLite counts frames as copied to the
// file that it has not synced there, so if their pages are dropped nobody copies them again, and the log is written over.
//
// What is known of a log, for each descriptor that syncs it (a writer's, and a checkpointer's):
//
//   - The safe part is what a good sync of this descriptor has covered, or of the one by which frames were copied to the
//     file: those are synced first. It is of one generation of the log, which its salts name.
//   - What is behind it, up to where the log ended, is in doubt after a sync that failed. So is what was being written
//     just then by somebody else, behind what was committed: it ends no later than the next commit. In a log that was
//     opened just now all of this is in doubt from the start: another process may have been told of a failure, and died
//     of it, and nobody else would be told.
//   - Before a sync, what is in doubt is written again: it is read from the file, where the page cache still shows it,
//     and written to the same place, so it is dirty once more, and the sync writes it. A sync that fails is tried so a
//     second time. Only when that fails too does the commit fail, or the checkpoint.
//
// So when a sync succeeds, each frame up to the end of what it is for was written after the last failure that this
// descriptor was told of, or was durable before. A failure in between would have made this sync fail. Nothing is
// acknowledged, and nothing copied to the file, that is not whole on the disk.
//
// What is read back is compared with the sums in the frames, each of which covers all frames before. If the host has
// thrown the pages away and reads what the disk has, the sums do not fit. Then the sync fails, and so does each after it:
// the store takes no commits and copies nothing. What was acknowledged is in the safe part, and whoever opens the file
// anew finds that.
//
// Nobody else is in the way of writing again. A commit holds the write lock, and nobody else writes to the log. A
// checkpoint may not hold it, but writes only frames that are committed, with the bytes they have; and it keeps the log
// from being begun anew, as SQLite takes the lock for that before it syncs the log. What is not a frame needs no care:
// the zeros behind a commit stand for nothing, and whatever else the disk has in their place has other salts, or no sum
// that follows.
//
// A generation that is begun after a failure was written after it. The one before it was all copied to the file, and the
// file synced.
//
// When a sync of the database file fails, its checkpoint fails, and all of the log has to be copied again: SQLite notes
// in the index of the log how much was copied, for all processes, and that is set to 0 before the lock on checkpoints is
// given back. So until a checkpoint has copied the whole log once more, and a sync has succeeded, it is not written over,
// by whichever process. To copy a frame twice changes nothing for readers: SQLite copies none that is newer than what
// the oldest of them sees, and of each page the newest of those. What is copied has been read from the log, which is
// durable by then.
//
// A process that opens the file while nobody has it open makes the index anew. Nothing counts as copied then, and all of
// the log is suspect. What is not covered are programs of others that write to the file, or checkpoint it, with an engine
// that does none of this.
//
// # Where pages are kept
//
// For a page of 8 KiB the engine's allocator takes 16, of which 12 are written to, and the host gives it memory in
// pieces of 4 KiB as it is touched: three faults for each page, which cost more than to read it. That is a third of
// what the first questions to a store cost that was just opened. So blocks of that size come from a pool of areas of 2
// MiB, which the host is asked to give as large pages. A cache takes a third less memory, too.
//
// The pool is one for the process, as the methods of the engine's memory are: it serves whoever has pages of 8 KiB in
// the same engine. All that it changes is an address. It has room for 15,000 pages; beyond that, and for all other
// sizes, the engine's allocator goes on. Areas that nobody uses go back to the host, but for two, which the next
// connection finds warm. Where the engine was in use before this package was loaded, or the host refuses the addresses,
// there is no pool.
//
// # Who owns what
//
//   - An Index has a connection of its own, and asks it for the mapping through xShmMap, the engine's own method. The
//     mapping belongs to the engine, and stays where it is until the connection is closed: a lock keeps Read and Close
//     apart, and Read reports false after Close. It is read by atomic loads, as others write it; no pointer into it
//     leaves the package. The connection is idle: it holds no read transaction, so it keeps no frame from being
//     checkpointed.
//   - Neither the database nor its log nor the index of that is opened or closed here by itself: that would take the
//     POSIX locks of all connections of this process away.
//   - Gather and SyncCheckpoints give the engine's file objects, of the one connection, other tables of methods:
//     copies, with some replaced. A table is memory of the engine's malloc, and belongs to the file until xClose, which
//     puts the first one back, frees the copy and calls the method that was there. What is gathered belongs to the
//     log's file likewise. The room for writing again is there only meanwhile.
//   - They read the index of the log through the mapping of their own connection, by atomic loads, and write one word of
//     it, how much was copied: by an atomic store, and only while they hold the lock on checkpoints.
//   - The methods are functions of this package, no closures, so that their addresses stand. What they know of a file
//     is in a map under its address. One goroutine uses a connection at a time, so it is theirs alone in between.
//   - A log that the engine opens anew, which it never does while the file stays in WAL mode, is one without our
//     methods.
//   - The handle of a connection is read from the library's struct by the name of its field, which tests check.
//   - Memory that is handed to the engine is the engine's, from its malloc, or from the pool if it is for a page; it is
//     never Go's.
//   - The addresses of the pool are taken once, and never given up. A slot is the engine's from xMalloc to xFree, and
//     known by its address alone; what is noted of it is in Go's memory, so nothing that is written to a slot can
//     confuse the pool.
package engine
