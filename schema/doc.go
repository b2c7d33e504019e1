// Package schema is the shape of the file: its tables, its versions, and the transactions that read and write them.
// It knows no paths and hashes nothing.
//
// A [DB] is one SQLite file in WAL mode, with one connection that writes and a pool of connections that read. All
// access goes through two closures:
//
//	err := db.View(ctx, func(tx *schema.Tx) error { ... })   // one moment
//	err := db.Update(ctx, func(tx *schema.Tx) error { ... }) // all or nothing, durable when Update returns nil
//
// A transaction that writes begins with BEGIN IMMEDIATE, never by upgrading a read: an upgrade fails at once when
// somebody else wrote in between, whatever the timeout. Waiting for another process is done here, not in SQLite,
// so that it ends with the context's deadline. Processes take turns, in the order of asking, where the host has locks for
// that (Linux); elsewhere each tries again after a pause. Turns never decide whether a process may write.
//
// A third way to write is [DB.Join], for what is short: those that wait for the write lock at the same time share one
// transaction and its fsync. Of one that fails nothing stays: no row, no number that it took, no note ([Tx.SetLocal]),
// nothing that it left to be done before or after the commit. If it has changed something before it failed, the
// transaction is undone, the connection's memo is forgotten, and all run again, each within a savepoint. The lock is
// given back between two groups, and taken in the order of asking, so nobody is overtaken for longer than a group
// lasts.
//
// Whether anybody has committed since is told by a [Mark], in nanoseconds and without a transaction. Package engine
// reads it from the memory that SQLite shares between processes; all code of this module that the compiler cannot vouch
// for is there.
//
// What is committed stands in the log beside the file, and is folded into the file, or checkpointed, by a goroutine of
// the process that made the log long, while others write: no commit waits for that. The log is begun anew when it is
// between 32 and 64 MiB long, and by who has each commit synced already at 8 MiB if the writers are not too fast, for
// which the write lock is held while the little that is left is folded; only a single large commit, or a reader that
// stays, makes it longer. All this is left to SQLite's own checkpoints, and with it what a loss of power may do: the
// log is synced before anything of it is written to the file, and the file before the log is written over. Package
// engine adds syncs, so that less is left to sync while the write lock is held, writes a commit to the log in few calls,
// and writes again what the host has dropped when a sync failed. So one failure is seen by nobody; if the disk goes on
// refusing, commits fail with EIO until it takes them, and none that was acknowledged is lost.
//
// A fourth way, [DB.Stage], is for rows that mean nothing before a later commit: it is not synced by itself, but with
// that one, since the log is one file, in which a commit counts only if all before it is whole. Nor is [DB.Keep], whose
// rows mean nothing once this process is gone.
//
// A file and its log have to stay together, which nobody but SQLite cares for, and SQLite not when the file is moved:
// it finds the log by the path. So each commit first looks whether path, file and log are still those that were opened,
// see [DB.InPlace], and Open refuses a file whose log is elsewhere, or is that of another one.
//
// The tables are explained in tables.sql and in FORMAT.md. Each is written by one package: meta and counter by this
// one; lease, pin, gc and touched by hold; blob, pack, manifest and patch by chunk; branch, lineage, inode, dirent, orphan,
// call and change by vfs; snapshot by snapshot; doomed by gc.
//
// Three traps of SQLite's planner shape the statements of every room. The constant [Forever] is written as the literal
// 9223372036854775807, because a partial index beside a bound value makes each bind re-plan the statement. ANALYZE is
// never run, for the same reason. And ids start at [FirstID], because a bound 0 or 1 re-plans too.
package schema
