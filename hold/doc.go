// Package hold keeps collectors away from content that is in use and that no row points at yet, or any more. It has the
// tables by which the processes that have a file open coordinate with the one that collects garbage: lease, pin, gc and
// touched. It knows numbers of things, not what they are: no bytes, no names. Which rows may go is for the room gc to
// decide.
//
// # What holds a collector back
//
//   - The write barrier. While a collection runs, every transaction that makes a reference to content, new or found, says
//     so with [Touch]. Content found by its sum may have been garbage a moment ago.
//   - Pins. A [Lease] is the row of one open store. Its pins name what the open files of that store still need after the
//     last name is gone: see [Pin].
//   - The floor of a lease. A running stream has stored blobs that nothing points at yet. Ids of blobs only grow, so the
//     highest id from before its first one separates the blobs that may be its own: see [Lower]. Blobs that it found
//     instead of adding are pinned.
//
// # Rounds
//
// A collector asks every process to publish its pins, with [NextRound], and waits until each lease has answered or is
// dead: see [Holders]. A heartbeat looks for such a request once a second and publishes; it also proves that the lease is
// alive.
//
// A lease is dead when its process is provably gone or its heartbeat is older than a minute: see [Dead]. Whoever finds a
// dead lease deletes it, and its pins, no later than in the transaction that takes what it held. A process that was only
// suspended then finds its row missing, and trusts nothing that it staged under it.
package hold
