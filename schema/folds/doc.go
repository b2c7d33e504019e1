// Package folds makes a connection's checkpoints sync the database file each time.
//
// SQLite copies frames of the log into the file, and syncs the file only when there is nothing left to copy. Beside a hot
// writer there always is, until somebody keeps the writer from writing: then the little that is left is copied, but all that
// was written to the file before it is synced, while the writer waits. [Sync] has every checkpoint sync what it has written.
//
// It changes nothing of what SQLite does, nor when: it only adds a sync where SQLite tells the file that a checkpoint has
// copied all it will. A sync that fails there is remembered, since the host tells of it once, and is what the sync that
// SQLite asks for returns: a log that was not folded for sure is not written over.
//
// # Who owns what
//
// This is one of the packages with unsafe code, the others are walindex and walfile. The rules:
//
//   - The engine's file object, of the one connection, gets another table of methods: a copy of its own, with three replaced. The
//     table is memory of the engine's malloc, and belongs to the file until xClose, which puts the first one back, frees
//     the copy and calls the method that was there.
//   - The methods are functions of this package, no closures, so that their addresses stand. What they know of a file is in a
//     map under its address. One goroutine uses a connection at a time, so it is theirs alone in between.
//   - The handle of the connection is read from the library's struct by the name of its field, which a test checks. Where it
//     cannot be had, Sync reports that, and everything goes on as SQLite does it.
//   - The file is not opened or closed here: closing it takes the POSIX locks of all connections of this process away.
package folds
