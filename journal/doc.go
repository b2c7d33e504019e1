// Package journal is the record of the changes in a store: which verb changed which path of which branch, with the sums
// of the contents before and after, the numbers of the inodes, and in the course of which call.
//
// # The model
//
// A verb appends one [Change] for each path that it changed, through the [Writer] of its transaction. So the record and the
// change stand or fall together: a change that was rolled back has no record, and a committed one has one.
//
// Changes are numbered without gaps, in the order of their commits, over all branches of the store. A reader that has seen
// one number therefore knows whether it missed any. The oldest changes go when a collection trims them, and a reader that
// was too slow gets a [TrimmedError].
//
// A change is read back as an [Event]. [Read] returns the events of a branch and of the branches that it was forked from.
// [Journal.Watch] follows one branch as its record grows, whichever process appends to it.
//
// A [Call] is the call of a tool, or the command of a person, in whose course changes happen. It travels in the context, see
// [WithCall], and is one row however many commits it makes.
//
// Each epoch in which a call changes a tree is a [Step] of that call alone: room tree ends the epoch of a branch when another
// writer comes. So the states before and after a call are two moments, and an undo can take back what lies between them. The
// record notes what was taken back: [AddUndone].
//
// # What it does not know
//
// The room knows branches by their numbers and epochs, paths as text, and inodes as numbers that it passes on. It knows
// no trees: the rooms above resolve paths, and hand over a [Source] to read from.
//
// Tables written here: change, other, call, step, trail, undone.
package journal
