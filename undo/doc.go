// Package undo takes back what calls did, and leaves what came later.
//
//	result, err := undo.Undo(ctx, fsys, nil)                            // the last call
//	result, err = undo.Undo(ctx, fsys, &undo.Options{Call: 1042})       // this one
//	result, err = undo.Redo(ctx, fsys, nil)                             // takes the last undo back
//
// # The model
//
// A call is what the log attributes changes to, see [vfs.WithCall]: the call of a tool, or a command. The epochs of a branch in
// which a call wrote are its own: they are the steps of the call, see [journal.Step]. So its changes are what differs between
// the moment before a step and the one at its end. An undo merges them away, the latest step first, with the moment after
// as the base and the one before as the source: [merge.Back]. It is exact for entries, contents, modes, owners, times and
// attributes. Where later changes touch the same lines, the head keeps what it has, and the file is in conflict.
//
// An undo is one commit, and itself a call. So it can be taken back, which is a redo. The log notes what an undo took back, for
// the branch and its later forks. A call that is taken back is undone; if that undo is taken back, it is not any more.
//
// Changes without a call belong to nobody, and stay.
//
// # What is kept
//
// The rows of a past moment stay in the file until a collection takes them. It takes those that no snapshot or fork shows. After
// it a call can be taken back if a snapshot keeps the moment before, and another one the moment after or nobody has written
// since. Sessions that take a snapshot before each call have both. What is not whole any more is refused with ESTALE, and
// nothing is done.
//
// This room writes no table itself.
package undo
