// Package hold keeps collectors away from content that is in use although no row points at it yet, or any more. By its
// tables the processes that have a store open coordinate with the one that collects garbage. It knows ids, and neither
// bytes nor names. The room gc decides which rows may go.
//
// # The three holds
//
//   - The write barrier. While a collection runs, every transaction that makes a reference to content, new or found, notes
//     it with [Touch]. Content found by its sum may have been garbage a moment ago.
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
// A lease is dead when its process is provably gone or its heartbeat is older than a minute: see [Dead]. A collector
// deletes a dead lease, and its pins, no later than in the transaction that takes what it held. A process that was only
// suspended then finds its row missing, and trusts nothing that it staged under it.
//
// Tables written here: lease, pin, gc, touched.
package hold
