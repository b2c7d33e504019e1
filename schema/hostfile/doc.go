// Package hostfile asks the host about the files of a store, and takes the host's locks on them.
//
// [Identify] returns which file a path leads to, so that a store notices when its file was moved or replaced. [Held],
// [IndexHeld] and [UsesLog] show what other processes do with a file before it is opened, and [Tie] shows them which log
// belongs to it. [Turns] queues the processes that write to one file.
//
// Hosts differ. On Linux everything here is real; other systems answer as far as they can, and where they cannot a store
// is opened without that protection. Nothing here is needed for a commit to be right: SQLite's own locks decide that.
package hostfile
