// Package purge removes files from a store as if they had never been there: from all branches, snapshots and past moments,
// from the record of changes, and from the bytes of the file itself. It is for secrets that were written by mistake.
//
//	report, err := purge.Run(ctx, "agent.db", []string{"config/.env"}, nil)
//
// # What goes
//
// A path names every file that it led to in any moment that is left, and every file that the record of changes knows by it. So it
// names a file that was moved away or removed before a collection, too: of that file the bytes may still be in unused pages,
// and the sums in the record. A purge follows these files by their inodes: all their names, all their versions, their
// attributes, and what merges have noted about them. The names stay in the record of changes, and one change more says that
// the path was purged, by whom, and why.
//
// The same content may belong to other files: copies, or files with a long part in common. While one of these stays, so do the
// bytes. So a purge names them and refuses, unless [Options].Copies says what to do with them. Those that no branch and no
// snapshot shows any more go along. What a copy has in common with further files alone stays with these.
//
// # How
//
//   - One transaction removes the rows of the files in all moments, takes their sums out of the record, and notes that a
//     purge is not finished. From here on no tree shows the files.
//   - A collection deletes content that nothing refers to, and with it older versions whose rows were gone already. So past
//     moments that nothing keeps go too, as with every collection.
//   - Packs are compressed as a whole. Those that lost a blob, now or earlier, are made anew.
//   - SQLite leaves deleted bytes where they were. Every unused byte of the file becomes zero, see [vfsdb/schema/page], and the
//     write-ahead log is folded into the file and cut off.
//   - The raw file and what SQLite keeps beside it are searched for samples of the removed bytes. Only then the note goes.
//
// A purge that is cut short anywhere has not begun, or [Unfinished] reports it, and the next Run finishes it.
//
// # Who may have the store open
//
// Nobody else. Memories of past moments are never cleared elsewhere, because nothing else changes the past, so a Run is EBUSY
// while another process has the file open, or this process has. It opens the file itself.
//
// Tables written here: purge.
package purge
