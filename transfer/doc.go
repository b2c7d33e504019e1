// Package transfer moves trees in and out: from a directory of the host, a tar stream or a zip into a store, and back.
//
// # In
//
// [ImportDir], [ImportTar] and [ImportZip] put what is inside the source inside a directory of the store. Files are read, hashed and
// stored first, out of sight, many small ones to a transaction. Then one commit makes all the names. Whatever happens
// before it (a file that cannot be read, an entry that is refused, a cancelled context, a killed process) leaves the
// tree as it was, and what was stored is garbage for a collection. With Partial each batch gets its names as soon as it
// is stored, and what cannot go in is listed in the [Report] instead.
//
// What is there already is merged: directories are entered, other things are replaced, but a directory never gives way
// to something else, nor something else to a directory. A symlink in the store is never followed below the destination.
// A file that is already as it should be is not touched, so importing a tree again changes nothing.
//
// A directory that is imported again is walked, but a file is read only if its size or its modification time, to the
// nanosecond, are not those that the store has. Who sets times back can deceive that, so Checksum reads all. A file
// that is changed twice between two ticks of a clock cannot: what was modified less than 100 ms ago, or 2 s where times
// have no fractions, is read last, when that time has passed, which a small import may have to wait for; if it was
// modified again by then, it gets a time in the store that is a nanosecond early, and is read the next time.
//
// # Out
//
// [ExportDir] and [ExportTar] write a tree as it is: contents, 12 mode bits, times to the nanosecond, symlinks, hard
// links. [ExportZip] writes what a zip can hold. Holes stay holes in a directory. Every file is of one moment; to export a whole tree of one moment while
// others write to it, export a snapshot. Nothing is ever written through a symlink of the host. What a host cannot
// store, a name that its filesystem does not allow or a device without the rights to make one, is listed in the Report.
package transfer
