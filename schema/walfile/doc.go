// Package walfile has a connection write its commits to the log in few, long writes.
//
// SQLite writes each page of a commit to the log by itself, in two calls: 24 bytes that begin a frame, then the page. And
// a log that is new, or was emptied, grows with every commit, which the host has to note before the commit is
// durable: that costs as much again as the sync itself. [Gather] collects what follows upon each other in memory, up to 124
// KiB, and makes the log grow in steps: behind a commit that made it longer it writes zeros for some that come after.
//
// # Why nothing is lost
//
// What is in memory only is what no other connection could read, and what SQLite has not asked to be durable:
//
//   - A frame says, in its first bytes, whether it ends a commit. With the page of such a frame everything is written at once, before
//     xWrite returns: so before the commit is synced, before it enters the index of the log, and with the error if it fails.
//   - A sync, a truncation, a question for the size, and a read of what is in memory write it first. So does a write elsewhere: what
//     is in memory is one piece, and the order of writes stays.
//   - When the write lock on the log is given back, what is in memory is of a transaction that was rolled back, and is forgotten:
//     another process may write there from now on.
//
// Zeros are written only beyond all that the connection has ever written or seen, in the midst of a commit of its own. Frames that
// count lie below, because there is one writer; so what is overwritten does not count. Zeros are no frame: the number of a page is
// never 0. Whoever makes the index from the log after a crash stops at them, as at frames of an older generation.
//
// # Who owns what
//
// The rules of the package folds hold here: the engine's file objects, of the log and of the database, get tables of methods of
// their own, which live in memory of the engine's malloc and belong to the file until its xClose, like the piece in memory. The
// methods are functions of this package, no closures, and find what they know of a file in a map under its address. A
// connection is used by one goroutine at a time. Where the handle of a connection cannot be had, Gather reports it, and
// everything goes on as SQLite does it. A log that the engine opens anew, which it never does while the
// file stays in WAL mode, is one without our methods.
package walfile
