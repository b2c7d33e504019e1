// Package merge brings the changes of one branch into another, by identity: an inode keeps its number through renames and
// forks, so nothing is guessed from similarity.
//
//	result, err := merge.Into(ctx, main, attempt, nil)
//	for _, c := range result.Conflicts {
//		err = merge.Resolve(ctx, main, c.Path, merge.Take{Side: merge.Theirs})
//	}
//
// # The base
//
// A merge compares both trees with the best moment that they have in common. A branch contains its own past, the moments
// that it was forked from, and what it took in by merges: room history keeps these, so a second merge of the same branch
// brings only what is new, and a merge back brings only what the other side has of its own. A restore counts too: a branch
// that was brought back to the moment before a merge can have that merge again. If each side has taken in the other's past,
// there are several best moments. These are merged first, in memory; what conflicts among them keeps the older state. Where
// the target has not changed since the base, it becomes equal to the source. A branch that was forked empty has the empty
// tree for a base.
//
// # Registers
//
// Four registers of an inode merge each by itself, by the rule of three ways: if only one side changed it, that counts; if
// both made the same change, that does; else it conflicts.
//
//   - Its place is the set of its names. Names that a side added come, those that a side removed go. A file that one side
//     removed and the other edited or renamed stays, and conflicts. If both sides renamed it, the name that ours gave it
//     stays, and it conflicts. So do the names of ours if the two sides together removed all.
//   - Its content comes with its type. Texts of up to 64 MiB and a million lines that both sides changed are merged by line,
//     and within single lines by word. Other contents conflict as a whole.
//   - Its permissions and its owner. The later mtime counts.
//   - Its extended attributes, each by its name.
//
// Where identity was lost, because an editor wrote a new file over the old one, or a directory was removed and made anew, an
// inode continues the one that had its path; else a file continues one that was removed and has an equal content. A file that was
// renamed, and then written anew with another content, is a new one.
//
// # Trees
//
// If one side removed a directory and the other changed or added something in it, the directory stays with just that. An
// addition is no conflict. Two directories that were added under one name become one, and so do one that was added and one that
// the other side moved there. Two different files under one name both stay, that of the source as name~SOURCE. If the two sides
// move two directories into each other, the moves of ours count.
//
// # Conflicts
//
// A merge does not fail for conflicts. A register that conflicts stays as it is in the target, and the inode's row has the other
// states as terms, in the way of jj: a value is what stands there, less the base, plus what theirs had. Forks, snapshots
// and restores take conflicts along, and collections keep their contents. In later merges equal terms cancel, so a
// conflict that one branch has resolved is resolved by a merge with that branch. Marks in texts are made when they are asked
// for, by [Markers], and are stored nowhere. Copies and exports leave conflicts behind.
//
// # Cost
//
// A merge is one transaction: other writers, in this process and others, come before it or after. It costs as much as both
// sides have changed since they were one. Inodes, names and sums of what changed are read many at once.
//
// The core, which merges three trees, knows nothing of branches. This room writes no table itself.
package merge
