// Package chunk keeps bytes. It stores content and returns a few numbers that stand for it; given these it returns the
// bytes, verified. It knows no names: the rooms above decide which content is in use.
//
// # Content
//
// Content is cut into chunks of [Size] bytes; only the last one may be shorter. The [Sum] of a chunk is the BLAKE3-256 of
// its bytes. A chunk at rest is a blob, one row of that table, and is stored once however many contents have it. A chunk
// of nothing but zeros is a hole and is not stored.
//
// Content of at most one chunk is its blob. Longer content has a manifest: the sums of its chunks in order, without the
// holes, in one immutable row that has a sum of its own. A [Content] holds the length and the id of the blob or of the
// manifest. It is canonical: within one file, two contents are equal byte for byte if and only if their Contents are
// equal, however they were written. Across files, compare sums.
//
// # Ways in and out
//
//   - [Put] stores bytes at hand. [Prepare] cuts and hashes them beforehand, so that nobody waits for the write lock
//     meanwhile.
//   - [Apply] makes new content from old: another length, and a few patches. Chunks that do not change are shared.
//   - A [Stager] takes a stream of any length in bounded memory. It writes a long stream as it arrives, a few chunks per
//     transaction. Nobody can see them until Commit, in the transaction that also gives the content a name. A [Batch]
//     does the same for many short contents.
//   - An [Overlay] is an edit in memory, as of a file that is open for writing: bounded bytes that were written, and the
//     length that it was cut to. Apply stores the result. A [Cover] reads a range through it.
//   - [Read] reads a range. A [Reader] serves an open file, and keeps the chunk that it read last. A [Cache] is shared by
//     all of them.
//
// # At rest
//
// A blob is stored as its bytes, or as a zstd frame of them if the Stager, Batch or Draft has Compress set. Later many
// small blobs can be put into a pack, which is compressed as a whole: [ReadLoose], [MakePacks] and [Pack.Swap] are the
// three steps, which the room gc takes. Readers of a blob notice only the time: reading one blob of a pack decompresses
// all 64 KiB of it, unless the same connection just did.
//
// When [Apply] changes little of a long chunk, the new chunk is stored as a delta: the bytes that lie over another blob,
// its base. The base is the chunk as it was before, or the base of that one; a base is never a delta itself. When too much
// lies over it, the chunk is stored whole. The second small change of a chunk loads and hashes only the parts that it
// changes: BLAKE3 is a tree, and the sum follows from the nodes of the other parts, which the process keeps in memory. A
// long manifest is stored likewise: only the lines that changed, over another manifest.
//
// Every chunk and every manifest is compared with its sum when it is loaded. A mismatch is a [CorruptError], which is EIO
// to errors.Is. Lengths found in the file are not trusted either.
//
// # In memory
//
// A [Cache] has two shelves, each bounded by bytes; the entry that was used least recently makes room for a new one.
//
//   - Contents of one chunk that were read whole. Once the shelf is full, and always for content above 128 KiB, only
//     content that was asked for before, not long ago, comes in: a walk through a large tree does not displace the files
//     that are read again and again.
//   - Chunks of which a part was read, and manifests. Sequential reads skip the cache; a stream owns its buffer.
//
// The process also keeps the chains of chunks that were read in part or changed a little: the nodes of BLAKE3's tree above
// their parts of 16 KiB. With its chain, a part of a chunk that is no longer in the cache can be loaded and verified
// without the rest. So small random reads in a file larger than the cache load and hash each chunk once.
//
// None of this is ever stale, since ids and sums stand for the same bytes for good. A check or a collector must see the
// file itself, and reads without a cache.
//
// # Collection
//
// Blobs and manifests that nothing points at are garbage. The room gc deletes them, perhaps in another process while we
// write. Package hold keeps it from deleting too much:
//
//   - While a collection runs, each transaction that makes a reference to content, new or found, notes it: see [Touch].
//   - A running stream stages its blobs under a [vfsdb/hold.Lease], whose floor is below all of them. Blobs that it found
//     instead of adding are pinned. A process that was suspended may find its lease gone; then it looks up again all that
//     it staged.
//
// A base is not garbage while anything is stored over it: [Delete] leaves it, by the table patch.
//
// Tables written here: blob, pack, manifest, patch.
package chunk
