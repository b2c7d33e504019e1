package journal

// An Op is the kind of change that an [Event] made. In JSON and in the file it is the text.
type Op string

// The ops. Path of an event is the path that changed, or "." for a branch or a snapshot. Arg is empty unless the op names it.
const (
	OpCreate         Op = "create"          // a file was made, with content or without
	OpWrite          Op = "write"           // a file's content was replaced,
	OpAppend         Op = "append"          // added to,
	OpTruncate       Op = "truncate"        // cut or extended,
	OpEdit           Op = "edit"            // or edited
	OpMkdir          Op = "mkdir"           // a directory was made
	OpMknod          Op = "mknod"           // a fifo, socket or device was made
	OpSymlink        Op = "symlink"         // a symlink was made to Arg
	OpLink           Op = "link"            // the file at Arg got another name
	OpRename         Op = "rename"          // the name Arg became the name Path
	OpCopy           Op = "copy"            // Path came to be as a copy of Arg
	OpRemove         Op = "remove"          // a file or an empty directory lost its name
	OpRemoveAll      Op = "removeall"       // the same, with all that is below it
	OpChmod          Op = "chmod"           // the mode was set
	OpChown          Op = "chown"           // the owner was set
	OpChtimes        Op = "chtimes"         // the times were set
	OpXattr          Op = "xattr"           // the extended attribute Arg was set or removed
	OpSetattr        Op = "setattr"         // several of these were set at once
	OpRestore        Op = "restore"         // Path took the state that it has in another tree
	OpMerge          Op = "merge"           // Path took a state that merges another tree's changes, resolves a conflict, or takes a call back
	OpPurge          Op = "purge"           // the contents of Path were removed from the whole store, and from the record. Arg is the reason
	OpSnapshot       Op = "snapshot"        // a moment of the branch got the name Arg
	OpSnapshotDelete Op = "snapshot-delete" // and lost it
	OpBranch         Op = "branch"          // a branch was made: Arg is its name, and behind a space its origin, if it was forked
	OpBranchDelete   Op = "branch-delete"   // the branch Arg was dropped
	OpBranchRename   Op = "branch-rename"   // Arg is the old name, a space, and the new one
)
