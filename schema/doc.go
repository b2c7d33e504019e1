// Package schema is the file: its tables, its versions, and the transactions that read and write them. It knows no paths
// and hashes nothing.
//
// # Transactions
//
// A [DB] is one SQLite file in WAL mode, with one connection that writes and a pool of connections that read. All access
// goes through closures:
//
//	err := db.View(ctx, func(tx *schema.Tx) error { ... })   // one moment
//	err := db.Update(ctx, func(tx *schema.Tx) error { ... }) // all or nothing, durable when Update returns nil
//
// There are three more ways to write, with other promises:
//
//   - [DB.Join] is for short transactions. Those that wait for the write lock at the same time share one commit and one
//     fsync. One that fails leaves nothing, and the others do not notice it. The lock is given back between two groups,
//     and taken in the order of asking.
//   - [DB.Stage] is for rows that mean nothing before a later commit. It is not synced by itself but with that commit: the
//     log is one file, in which a commit counts only if all before it is whole.
//   - [DB.Keep] is for rows that mean nothing once this process is gone. It is not synced either.
//
// A transaction that writes begins with BEGIN IMMEDIATE. It never upgrades a read: an upgrade fails at once when somebody
// else wrote in between, whatever the timeout. Waiting for another process is done here and not in SQLite, so that it ends
// with the context. On Linux, processes take turns in the order of asking; elsewhere each tries again after a pause. Turns
// are for fairness: they never decide whether a process may write.
//
// A [Mark] answers in nanoseconds, without a transaction, whether anybody has committed since. Package engine reads it
// from the memory that SQLite shares between processes. All unsafe code of this module is in that package.
//
// # The log
//
// A commit is in the log beside the file. The process that made the log long folds it into the file, in a goroutine with
// a connection of its own, so no commit waits for a checkpoint. The log restarts at 32 MiB, or at 8 MiB when every commit
// is synced and writers leave time for it. Restarting holds the write lock while the last frames are folded in. Only one
// very large commit, or a reader that holds an old moment, lets it grow past 64 MiB.
//
// These are SQLite's own checkpoints, so a loss of power does no more than it does to any SQLite file: the log is synced
// before anything of it is written to the file, and the file before the log is written over. Package engine adds three
// things. It syncs more often, so that less is left to sync while the write lock is held. It writes a commit to the log in
// few calls. And it writes again the pages that the host dropped when a sync failed, so a single failure has no effect. If
// the disk goes on refusing, commits fail with EIO until it takes them. No acknowledged commit is lost.
//
// A file and its log must stay together, but SQLite finds the log by the path, so a move can part them. Each commit first
// checks that the path, the file and the log are still those that were opened, see [DB.InPlace]. Open refuses a file whose
// log is elsewhere, or belongs to another file.
//
// # Tables
//
// The tables are explained in tables.sql and in FORMAT.md. Each is written by one room and read only by that room and
// those above it, with a few exceptions that internal/arrows lists: meta and counter here; lease, pin, gc and touched by
// hold; blob, pack, manifest and patch by chunk; call and change by journal; branch, lineage, snapshot and merge by history; inode,
// dirent and orphan by tree; doomed by gc.
//
// Three traps of SQLite's planner shape the statements of every room. The statements contain the literal
// 9223372036854775807 in place of [Forever], because a partial index beside a bound value makes each bind plan the
// statement anew. ANALYZE is never run, for the same reason. And ids start at [FirstID], because a bound 0 or 1 does so too.
package schema
