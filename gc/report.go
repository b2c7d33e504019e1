package gc

import "time"

// A Report counts the garbage that a collection freed, or with DryRun would free.
type Report struct {
	Orphans   int64 // inodes that had lost their names, and those below them
	Rows      int64 // of entries and inodes that no tree showed any more
	Branches  int64 // that were dropped, and have no rows left
	Changes   int64 // of the log, the oldest
	Calls     int64
	Manifests int64
	Blobs     int64
	Bytes     int64 // that those blobs took in the file; of a blob in a pack, the size of its content
	Pages     int64 // given back to the file system; 0 of a DryRun

	Steps       int           // transactions that wrote
	LongestStep time.Duration // the longest time that one held the write lock
}
