// Package powerloss is a host for tests: its syncs fail when a test wants it, and its power goes. Nothing but tests may
// import it.
//
// A [Host] stands between SQLite and the operating system, as SQLite's default VFS, and follows the files of one
// database: what is written, cut and synced, by whichever connection of the process. Beside the files themselves, which
// SQLite reads, it keeps what the disk has of them. [Host.Image] makes the files that a loss of power would leave at
// that moment.
//
// It behaves as Linux does with ext4 and xfs:
//
//   - Written bytes are in the page cache. They are on the disk for certain once a sync has succeeded, and may be there
//     before, page by page, in any order.
//   - When the disk does not take pages, they are dropped: some may have been written, the others are clean from then
//     on, so no later sync writes them. The page cache still shows them, until it needs their memory. With Forget it
//     does so at once, and a read returns what the disk has.
//   - A failure is reported by one sync of each descriptor that was open when it happened, and by none of those opened
//     after the first of them has reported it.
//   - A file that was removed may be there again after a loss of power, until the directory was synced. SQLite does
//     that with the first sync of the file that takes its place.
//
// A test names the syncs that fail by their number, see [Host.Fail], and writes to the disk that fail while nobody
// waits for them by the number of a write, see [Host.Drop].
package powerloss
