// Package git takes the trees of a store to git and back, in the stream that git fast-export writes and git fast-import
// reads.
//
//	report, err := git.Export(ctx, w, []git.Ref{{Name: "refs/heads/main", Tree: fsys}}, nil) // w: git fast-import
//	report, err = git.ImportRepo(ctx, fsys, "checkout", "v1.2", &git.ImportOptions{Branch: "v1.2"})
//
// # Out
//
// [Export] writes a commit for each snapshot of a branch's past, oldest first, and one for its head if that has changed
// since. The first commit has the whole tree, each later one what differs from the one before. So an export costs as much
// as the tree and its changes, and not as many trees as there are snapshots. Contents are part of the commits: nothing is
// gathered in memory but the list of what one commit changes.
//
// The author of a commit is that of the last change before the snapshot, as the log has it, and the time that of the
// snapshot. The message is the note of the snapshot or its name, followed by a trailer for each call that changed something.
// The same store makes the same commits again.
//
// # In
//
// [Import] reads such a stream into a new branch, and [ImportRepo] has git write one. Each commit of the stream is one
// commit of the store; with History each becomes a snapshot whose note is the message, else only the last one does. The
// note also has the author and the committer: an export of the snapshot makes the same commit from them, but for further
// parents, a signature and an encoding.
//
// The branch appears whole or not at all. Contents go into the store as they come; in memory are the marks of the stream,
// and the list of what one commit changes. A branch is a line of commits, so a stream must be one too. ImportRepo follows
// the first parent of each merge.
//
// # What gets lost
//
// Git has no empty directories, no owners, no times, no extended attributes, no hard links, no devices, and of the modes of
// a file only whether its owner may run it. The store has no submodules. A path that git would not check out, such as
// .git/config, goes neither way. The [Report] counts and names all that.
package git
