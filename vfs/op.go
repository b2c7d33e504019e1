package vfs

import "vfsdb/journal"

// An Op is the kind of change that an [Event] records, as text.
type Op = journal.Op

// The ops. The Path of an event is what was changed, unless a comment differs.
const (
	OpCreate         = journal.OpCreate         // a file was made, with content or without
	OpWrite          = journal.OpWrite          // a file's content was replaced,
	OpAppend         = journal.OpAppend         // added to,
	OpTruncate       = journal.OpTruncate       // cut or extended,
	OpEdit           = journal.OpEdit           // or edited
	OpMkdir          = journal.OpMkdir          // a directory was made
	OpMknod          = journal.OpMknod          // a fifo, socket or device was made
	OpSymlink        = journal.OpSymlink        // a symlink was made to Arg
	OpLink           = journal.OpLink           // the file at Arg got another name
	OpRename         = journal.OpRename         // what was at Arg is at Path now
	OpCopy           = journal.OpCopy           // Path came to be as a copy of Arg
	OpRemove         = journal.OpRemove         // a file or an empty directory lost its name
	OpRemoveAll      = journal.OpRemoveAll      // the same, with all that is below it
	OpChmod          = journal.OpChmod          // the mode was set
	OpChown          = journal.OpChown          // the owner was set
	OpChtimes        = journal.OpChtimes        // the times were set
	OpXattr          = journal.OpXattr          // the extended attribute Arg was set or removed
	OpSetattr        = journal.OpSetattr        // several of these were set at once
	OpRestore        = journal.OpRestore        // Path took the state that it has in another tree
	OpMerge          = journal.OpMerge          // Path took a state that merges another tree's changes, or resolves a conflict
	OpSnapshot       = journal.OpSnapshot       // a moment of the branch got the name Arg
	OpSnapshotDelete = journal.OpSnapshotDelete // and lost it
	OpBranch         = journal.OpBranch         // a branch was made: Arg is its name, and behind a space what it began as
	OpBranchDelete   = journal.OpBranchDelete   // the branch Arg was dropped
	OpBranchRename   = journal.OpBranchRename   // Arg is the old name, a space, and the new one
)
