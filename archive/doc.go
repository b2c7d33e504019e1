// Package archive moves trees in and out of a store as archives.
//
//	report, err := archive.Export(ctx, fsys, "/project", w, archive.TarZst, nil)
//	report, err = archive.Import(ctx, fsys, r, "/project", "", nil) // of any format
//
// What the formats keep:
//
//	                          .tar .tar.gz .tar.zst   .zip
//	contents, 12 mode bits    yes                     yes
//	times                     to the nanosecond       to the second, 1970 to 2106
//	symlinks                  yes                     yes
//	hard links                yes                     a copy for each name
//	empty directories         yes                     yes
//	the directory itself      its mode and time       no
//	names                     any bytes               any bytes; others than UTF-8 are marked so
//	owners                    yes                     no
//	extended attributes       yes                     no; the report counts them
//	fifos and devices         yes                     no; the report names them
//	holes                     as zeros                as zeros
//
// The same tree makes the same bytes, on any machine. Entries are sorted by name within each directory. Times do not depend on
// the time zone.
//
// An archive is read as a stream: neither an export nor an import holds more than some MiB of contents in memory. Of each
// entry an import keeps the name and the attributes until its one commit, and so a cancelled import leaves no name. An archive of
// strangers can have a thousand times its size in contents, and only [transfer.ImportOptions].MaxFileSize and the disk bound that.
// Refused are windows of zstd over 128 MiB, and zips with entries that share their bytes. The rules for names are those of
// [transfer.ImportTar].
package archive
