// Package walindex tells in a few nanoseconds, without a transaction or a system call, whether anybody has committed to a
// SQLite file in WAL mode since the last look: another goroutine, another process, or a program that is not ours.
//
// SQLite keeps the index of a log in shared memory, which every process that has the file open maps. It begins with a header
// of 48 bytes, and behind it a second copy. A commit writes its frames to the log, makes them durable, then writes the
// second copy, then the first; only then has it happened for readers, and only then does COMMIT return. An [Index] reads
// the first copy.
//
// # What equal headers prove
//
// Two equal headers mean that nothing was committed between the two looks. Of what is in a header, the salts name a
// generation of the log, and mxFrame says how many of its frames are committed. Committed frames are never written over
// within a generation, so salts and mxFrame name one content of the database. (The sum over all frames, the count of commits
// and the header's own sum must be equal too.) In particular:
//
//   - A checkpoint copies frames into the database. That changes no content, and no header.
//   - A log that is begun anew gets other salts, before its first frame.
//   - When a process dies while it writes a header, the two copies differ, or the sum is wrong. The next one to read takes all
//     locks and makes the header from the log: the salts of the log, and its committed frames. That is the same content for
//     the same header, as before. Only the count of commits begins at 0 again, so it proves nothing by itself.
//   - A log without a frame has no salts to recover: its header is the same for every content. So zero salts are no header:
//     Read reports false. As this is how every file begins that was closed properly, Open begins the empty log anew,
//     which gives it salts and writes nothing to the disk.
//   - A torn look, while a commit is writing the first copy, may mix words of two headers. If the mix is equal to an earlier
//     header, then a word that the commit changes was not written yet: the commit has not returned, and an answer from before
//     it is right. No other equality is left but that of sums of 64 bits, by chance.
//
// The last process to close the file removes the log and its index. It needs an exclusive lock on the file for that, as does
// whoever leaves WAL mode, which the connection of an open Index does not let them have.
//
// # Who owns what
//
// This is one of the packages with unsafe code, the others are folds and walfile. The rules:
//
//   - The Index has a connection of its own, and asks it for the mapping through xShmMap, the engine's own method. Neither the
//     database nor the index of its log is opened or closed here by itself: that would take the POSIX locks of all connections
//     of this process away. The mapping belongs to the engine. It stays where it is until the connection is closed.
//   - The connection is idle: it holds no read transaction, so it keeps no frame from being checkpointed.
//   - The memory is read by atomic loads, as others write it. It is not Go's: no pointer into it leaves the package.
//   - Close unmaps. A lock keeps Read and Close apart, and Read reports false after Close.
//   - Memory that is handed to the engine is the engine's, from its malloc; it is never Go's.
package walindex
