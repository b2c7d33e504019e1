// Package hostfile asks the host about the files of a store, and takes the host's locks on them.
//
// [Identify] returns which file a path leads to, so that a store notices when its file was moved or replaced. [Held],
// [IndexHeld] and [UsesLog] show what other processes do with a file before it is opened, and [Tie] shows them which log
// belongs to it. [Turns] queues the processes that write to one file.
//
// Hosts differ. On Linux everything here is real; other systems answer as far as they can, and where they cannot a store
// is opened without that protection. Nothing here is needed for a commit to be right: SQLite's own locks decide that.
//
// # Turns
//
// SQLite's write lock is not fair: a process that finds it taken tries again later, and one that has just given it back
// mostly gets it first. So processes that write to one file take turns. They queue for two advisory locks, which the kernel
// hands on in the order of asking, and frees when a process dies:
//
//   - turnLock is held by the process that writes,
//   - lineLock by the one that comes next. All others wait for this lock.
//
// Both are bytes of the log, far beyond its end, so there is no file to keep and to remove. SQLite takes no locks on its
// log.
//
// Turns are for fairness only. SQLite's lock alone decides whether a process may write. So nothing is lost where the host
// has no such locks, where another program writes without turns, or where a process is stopped in its turn: a process that
// waits longer than [Turns].Patience tries without.
package hostfile
