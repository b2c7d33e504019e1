// Package engine reaches below SQLite's statements, for six things that they cannot do. All unsafe code of this module is
// here, except for the tests' host in powerloss. Where one of the six is not available, everything works without it, only
// slower.
//
//   - An [Index] answers in a few nanoseconds, without a transaction or a system call, whether anybody has committed since
//     the last look: another goroutine, another process, or another program.
//   - [Gather] has a connection write its commits to the log in few, long writes.
//   - [SyncCheckpoints] has a connection sync the pages that each of its checkpoints has copied.
//   - Both write again the pages that the host may have dropped when a sync failed.
//   - A [Descriptor] identifies the file that a connection has open, wherever its path leads by now.
//   - On Linux, pages in memory lie side by side, so that the host can give one large page for 240 of them.
//
// # The proof by equal headers
//
// SQLite keeps the index of a log in shared memory, which every process that has the file open maps. It begins with a
// header of 48 bytes, followed by a second copy. A commit writes its frames to the log, makes them durable, then writes the
// second copy, then the first. Only then do readers see it, and only then does COMMIT return. An [Index] reads the first
// copy.
//
// Two equal headers mean that nothing was committed between the two looks. In a header, the salts name a generation of
// the log, and mxFrame is the number of its committed frames. Committed frames are never written over within a generation,
// so salts and mxFrame name one content of the database. (The sum over all frames, the count of commits and the header's
// own sum must be equal too.) In particular:
//
//   - A checkpoint copies frames into the database. That changes no content, and no header.
//   - A log that is restarted gets other salts, before its first frame.
//   - When a process dies while it writes a header, the two copies differ, or the sum is wrong. The next reader takes all
//     locks and makes the header from the log: the salts of the log, and its committed frames. So the same header stands
//     for the same content as before. Only the count of commits starts at 0 again, so it proves nothing by itself.
//   - A log without a frame has no salts to recover: its header is the same for every content. So zero salts prove
//     nothing, and Read reports false. Every file that was closed properly begins like this, so OpenIndex restarts the
//     empty log, which gives it salts and writes nothing to the disk.
//   - A torn look, while a commit is writing the first copy, may mix words of two headers. If the mix equals an earlier
//     header, then a word that the commit changes was not written yet: the commit has not returned, and an answer from
//     before it is right. The only other equality is one of 64-bit sums, by chance.
//
// The last process to close the file removes the log and its index. It needs an exclusive lock on the file for that, as
// does a process that leaves WAL mode. The connection of an open Index does not let them have it.
//
// # Why gathering loses nothing
//
// SQLite writes each page of a commit to the log by itself, in two calls: 24 bytes that begin a frame, then the page. And
// a log that is new, or was emptied, grows with every commit, which the host has to record before the commit is durable:
// that costs as much again as the sync itself. [Gather] collects adjacent writes in memory, up to 124 KiB, and makes the
// log grow in steps: behind a commit that made it longer it writes zeros, for later commits to write over.
//
// Bytes that are only in memory are bytes that no other connection could read, and that SQLite has not asked to be
// durable:
//
//   - The head of a frame marks whether the frame ends a commit. With the page of such a frame everything is written at
//     once, before xWrite returns: before the commit is synced, before it enters the index of the log, and with the error
//     if it fails.
//   - A sync, a truncation, a question for the size, and a read of gathered bytes write them first. So does a write
//     elsewhere: the gathered bytes are one piece, and the order of writes stays. If that fails, they stay in memory, and
//     SQLite gets the error. Mostly it rolls the transaction back. If a statement that changes many rows finds the disk
//     full while it reads, SQLite undoes only that statement; then the transaction goes on, and its earlier writes are
//     written with the later ones.
//   - When the write lock on the log is given back, gathered bytes are of a transaction that was rolled back. They are
//     discarded: another process may write there from now on.
//
// Zeros are written only beyond all that the connection has ever written or seen, in the midst of a commit of its own.
// There is one writer, so all frames that count lie below, and nothing that counts is written over. Zeros are no frame:
// the number of a page is never 0. A process that makes the index from the log after a crash stops at them, as it does at
// frames of an older generation.
//
// # Why checkpoints sync more
//
// SQLite copies frames of the log into the file, and syncs the file only when nothing is left to copy. Beside a hot writer
// something always is, until somebody keeps the writer from writing: then only the little that is left is copied, but all
// that was written to the file before is synced, while the writer waits. [SyncCheckpoints] adds a sync where SQLite
// notifies the file that a checkpoint has copied all it will.
//
// # Why a failed sync loses nothing
//
// When a disk does not take pages of the page cache, Linux drops them: the pages are clean from then on, so no later sync
// writes them, and the failure is reported by one sync of each descriptor that was open when it happened. A sync that
// succeeds after one that failed proves nothing about earlier writes.
//
// SQLite alone can live with that as long as each commit is synced. A commit whose sync fails is no commit, and the next
// one writes over its frames. But commits of [vfsdb/schema.DB.Stage] are not synced: their frames lie before those of a
// commit that is. If both are dropped, the next commit writes only the second anew. Its own sync succeeds, it is
// acknowledged, and after a loss of power the log ends at the hole before it. And SQLite counts frames as copied to the
// file before it has synced them there, so if their pages are dropped nobody copies them again, and the log is written
// over.
//
// Each descriptor that syncs a log, a writer's or a checkpointer's, keeps this state of it:
//
//   - The safe part is covered by a good sync of this descriptor, or by the sync before frames were copied to the file.
//     It is of one generation of the log, which its salts name.
//   - The part behind it, up to the end of the log, is in doubt after a sync that failed. So are the bytes behind the
//     committed frames that somebody else was writing just then: they end no later than the next commit. In a log that was
//     opened just now all of this is in doubt from the start: another process may have got the report of a failure, and
//     died, and nobody else would get it.
//   - Before a sync, the part in doubt is written again: it is read from the file, where the page cache still shows it, and
//     written to the same place. So it is dirty once more, and the sync writes it. A sync that fails is tried in this way a
//     second time. Only when that fails too does the commit fail, or the checkpoint.
//
// So when a sync succeeds, each frame in its span was written after the last failure that this descriptor knows of, or was
// durable before. A failure in between would have made this sync fail. Nothing is acknowledged, and nothing copied to the
// file, that is not whole on the disk.
//
// The bytes that are read back are compared with the sums in the frames, each of which covers all frames before. If the
// host has thrown the pages away and reads the disk's instead, the sums do not match. Then the sync fails, and so does each
// after it: the store takes no commits and copies nothing. All that was acknowledged is in the safe part, and a process
// that opens the file anew finds it.
//
// Nobody else interferes with writing again. A commit holds the write lock, and nobody else writes to the log. A checkpoint
// may not hold it, but writes only frames that are committed, with the bytes they have; and it keeps the log from being
// restarted, as SQLite takes the lock for that before it syncs the log. Bytes that are no frame need no care: the zeros
// behind a commit stand for nothing, and whatever else the disk has in their place has other salts, or a sum that does not
// follow.
//
// A generation that begins after a failure was written after it. The generation before was all copied to the file, and the
// file synced.
//
// When a sync of the database file fails, its checkpoint fails, and all of the log must be copied again. SQLite records in
// the index of the log how much was copied, for all processes; that is set to 0 before the checkpoint lock is given back.
// So until a checkpoint has copied the whole log once more, and a sync has succeeded, no process writes over the log. To
// copy a frame twice changes nothing for readers: SQLite copies none that is newer than the oldest reader's moment, and of
// each page the newest of those. The frames are read from the log, which is durable by then.
//
// A process that opens the file while nobody has it open makes the index anew. Then nothing counts as copied, and all of
// the log is in doubt. Other programs that write to the file, or checkpoint it, with an engine of their own are not covered.
//
// # Where pages are kept
//
// For a page of 8 KiB the engine's allocator takes 16, of which 12 are written to, and the host gives it memory in pieces
// of 4 KiB as it is touched. The three faults for each page cost more than reading it. So blocks of that size come from a
// pool of areas of 2 MiB, which the host is asked to give as large pages. A cache takes a third less memory, too. In a
// process that has just opened a store of 100,000 files, the first diff of 200 changes has 440 faults instead of 1,750, and
// takes 1.35 times the processor time without the pool; 2,000 look-ups or reads take 1.06 to 1.11 times.
//
// The pool is one for the process, as the methods of the engine's memory are: it serves every connection with pages of 8
// KiB in the same engine. It changes nothing but addresses. It has room for 15,000 pages; beyond that, and for all other
// sizes, the engine's allocator goes on. Unused areas go back to the host, except for two, which the next connection finds
// warm. If the engine was in use before this package was loaded, or the host refuses the addresses, there is no pool.
//
// # Ownership
//
//   - An Index has a connection of its own, and asks it for the mapping through xShmMap, the engine's own method. The
//     mapping belongs to the engine, and stays where it is until the connection is closed: a lock keeps Read and Close
//     apart, and Read reports false after Close. It is read by atomic loads, as others write it; no pointer into it leaves
//     the package. The connection is idle: it holds no read transaction, so it keeps no frame from being checkpointed.
//   - The package opens and closes neither the database nor its log nor the index of the log by itself: that would release
//     the POSIX locks of all connections of this process.
//   - Gather and SyncCheckpoints give the file objects of one connection other tables of methods: copies, with some
//     replaced. A table is memory of the engine's malloc, and belongs to the file until xClose, which puts the first table
//     back, frees the copy and calls the method that was there. Gathered bytes belong to the log's file likewise. The
//     buffer for writing again exists only meanwhile.
//   - They read the index of the log through the mapping of their own connection, by atomic loads, and write one word of
//     it, how much was copied: by an atomic store, and only while they hold the checkpoint lock.
//   - The methods are functions of this package, not closures, so that their addresses stay. Their state of a file is in a
//     map under its address. One goroutine uses a connection at a time, so the state is theirs alone.
//   - When the engine opens a log anew, which it never does while the file stays in WAL mode, that log does not have our
//     methods.
//   - The handle of a connection is read from the library's struct by the name of its field, which tests check.
//   - Memory that is handed to the engine is the engine's, from its malloc, or from the pool if it is for a page; it is
//     never Go's.
//   - The addresses of the pool are taken once, and never given up. A slot is the engine's from xMalloc to xFree, and
//     known by its address alone; the pool's bookkeeping is in Go's memory, so nothing that is written to a slot can
//     confuse it.
package engine
