// Package transfer moves trees in and out of a store: from a directory of the host, a tar stream or a zip, and back. Package
// archive adds the formats of packed archives.
//
//	report, err := transfer.ImportDir(ctx, fsys, "checkout", "/project", &transfer.ImportOptions{GitIgnore: true})
//	report, err = transfer.ExportTar(ctx, fsys, "/project", w, nil)
//
// # In
//
// [ImportDir], [ImportTar] and [ImportZip] put the contents of a source into a directory of the store. They first read,
// hash and store the files, many small ones to a transaction, without giving them names. Then one commit makes all the
// names. Any failure before it (a file that cannot be read, an entry that is refused, a cancelled context, a killed
// process) leaves the tree as it was, and the stored contents are garbage for a collection. With Partial each batch
// gets its names as soon as it is stored, and entries that cannot go in are listed in the [Report].
//
// An import merges with the tree that exists. Directories are entered, other files are replaced, and files that the
// source does not have stay. Without Delete a directory never gives way to another type, nor another type to a
// directory. A symlink in the store is never followed below the destination. A file that already is the same is not
// touched, so importing a tree again changes nothing.
//
// # Importing a directory again
//
// A directory that is imported again is walked, but a file is read only if its size or its modification time, to the
// nanosecond, differs from the store's. A time that was set back by hand deceives that; Checksum reads all files.
//
// The walk goes from directory to directory by descriptor. A file or directory that is swapped for a symlink
// meanwhile is refused, so nothing outside of the source is ever read.
//
// A file that changes twice between two ticks of a clock cannot deceive it. A file that was modified less than 100 ms
// ago, or 2 s where times have no fractions, is read last, after that time has passed; a small import may have to wait
// for it. If the file was modified again by then, the store gives it a time one nanosecond early, and the next import
// reads it.
//
// # Deletions and dry runs
//
// Delete makes the destination equal to the directory: names that the directory does not have are removed, in the same
// commit. That costs one pass over the destination, with the lock held. Names that Exclude and GitIgnore leave out are not
// removed, and neither is a directory that has such names; if the source has a file under that directory's name, the import
// is refused. DryRun lists in [Report].Plan what an import would change, and changes nothing.
//
// # Out
//
// [ExportDir] and [ExportTar] write a tree as it is: contents, 12 mode bits, times to the nanosecond, symlinks and hard
// links. [ExportZip] writes as much of that as a zip can hold. In a directory holes stay holes. With Since only what differs from
// another tree goes out, and the [Report] lists what is gone.
//
// Each file is of one moment. To export a whole tree of one moment while others write to it, export a snapshot. An
// export never writes through a symlink of the host. Files that the host cannot store are listed in the Report, such as
// a name that its filesystem does not allow, or a device without the rights to make one.
//
// # Both ways
//
// A Mirror is a directory of the host that shows a tree to programs, and brings back what they change. Fill makes it show a
// past moment; Bring puts the changes into a branch, in one commit. A memo beside the directory has what a look at each file
// showed when it was written: its number, size and times, also the time of change, which no program can set. A file that
// looks the same is not read, and so the second Fill of a tree costs a walk. A file that was changed in the tick of the clock
// in which it was looked at is not trusted, and is read.
package transfer
