// Package history has the moments of a store: its branches, what each was forked from, and which moments have names.
//
// # The model
//
// A branch is a number, a name, and the epoch that it is in. Writing happens in the present epoch. Ending it makes a
// [Moment], a branch and an epoch, which never changes again. A snapshot is a name for a moment.
//
// A branch that was forked reads through its ancestors. Its lineage is a list of [Level], the branch itself first, each
// with the epoch up to which it counts. [ReadLineage] refuses one that a damaged file makes too long or leads nowhere.
//
// A branch contains its own past and the moments of its lineage, and what it took in by merges: [AddMerge] notes that, and
// [Become] that a restore has made the branch what another moment was. [Bases] finds the best moments that two others
// both contain, which a merge compares them with.
//
// [Kept] reports whether a snapshot, a fork or a merge keeps a moment. A moment that nothing keeps may be collected, and can
// be read until then: [Whole] reports that.
//
// The functions of this room read and write rows in a transaction of their caller. They check names and numbers, and
// know neither the rows of trees nor what is cached of them.
//
// Tables written here: branch, lineage, snapshot, merge, reaped.
package history
