// Package chunk keeps bytes: it takes content in, gives back a few numbers to remember it by, and gives the bytes back,
// verified. It knows no names; who points at which content is the business of the room above.
//
// # Content
//
// Content is cut into chunks, windows of [Size] bytes, of which only the last may be shorter. The [Sum] of a chunk is
// the BLAKE3-256 of its bytes. A chunk at rest is a blob, one row of that table, stored once however many contents have
// it. A chunk of nothing but zeros is a hole and is not stored.
//
// Content of at most one chunk is its blob. Longer content is a manifest: the sums of its chunks in order, with the
// holes left out, in one immutable row that has a sum of its own. A [Content] holds the length and the id of the blob
// or of the manifest. It is canonical: in one file, equal bytes have equal Contents and different bytes have different
// ones, however they were written. To compare two contents, compare their Contents; across files, their sums.
//
// # Ways in and out
//
//   - [Put] stores bytes at hand. [Prepare] cuts and hashes them beforehand, so that no one waits for the write lock
//     while we hash.
//   - [Apply] makes new content from old: another length, and a few patches. Chunks that are not touched are shared.
//   - A [Stager] takes a stream of any length in bounded memory. Long streams are written as they arrive, a few chunks
//     per transaction; nothing of them can be seen until Commit, in the transaction that also gives them a name.
//   - [Read] reads a range; a [Reader] does so for an open file and keeps the chunk that it touched last. A [Cache]
//     keeps what they read, for all of them.
//
// # At rest
//
// A blob is stored as it is, or if a Stager, Batch or Prepared was told to Compress, as a zstd frame. Later many small
// ones can be put into a pack, which is compressed as a whole: [ReadLoose], [MakePacks] and [Pack.Swap] are the three
// steps of that, for the room gc to take. What reads a blob does not see any of this, but in the time that it takes: to
// read one blob of a pack is to decompress all of it, 64 KiB, unless the same connection just did.
//
// A long chunk of which [Apply] changes little is stored as what lies over another blob, its base. The base is the one
// that the chunk was before, or that one's base: it is never stored so itself. When too much lies over it, the chunk is
// stored whole. The second small change of a chunk loads and hashes only the parts that it touches: BLAKE3 is a tree,
// and the sum follows from the nodes of the other parts, which the process has kept. Of a long manifest only the lines
// that changed are stored, likewise.
//
// Every chunk is hashed when it is loaded and compared with its sum, and every manifest too. What does not match is a
// [CorruptError], which is EIO to whoever only looks at errnos. Sizes found in the file are not believed either.
//
// # In memory
//
// A [Cache] has two shelves, each bounded by bytes, from which what nobody has touched for longest goes first:
//
//   - contents of one chunk that were read whole. Once there is no room left, and if one is longer than 128 KiB, only
//     what was asked for before, not long ago, comes in: a walk through a large tree takes nothing from the files that
//     are read again and again.
//   - chunks of which a part was asked for, and manifests. Who reads long content from end to end, in steps however
//     small, passes by: what a stream holds is its own.
//
// Beside it the process keeps the chains of chunks that were read in part or changed a little: the nodes of BLAKE3's
// tree above their parts of 16 KiB, a fivehundredth of them. A part that is asked for after its chunk has gone is
// loaded and verified without the rest. So small reads at random in a file that is larger than the cache load and hash
// each chunk once.
//
// Nothing of that is ever stale, since ids and sums stand for the same bytes for good. What must see the file itself, a
// check or a collector, reads without a cache.
//
// # What a collector must not take
//
// Blobs and manifests that nothing points at are garbage, and the room gc takes them, perhaps in another process,
// perhaps while we write. Package hold keeps it from taking too much:
//
//   - Each transaction that makes a reference to content, new or found, notes it while a collection runs: see [Touch].
//   - A running stream stages its blobs under a [vfsdb/hold.Lease], whose floor is below all of them. Those that it found
//     instead of adding are pinned. A process that was suspended may find its lease gone; then all that it staged is
//     looked up again.
//
// And a base is not garbage as long as anything is stored over it: [Delete] leaves it, by the table patch.
package chunk
