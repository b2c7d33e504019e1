package vfs

import "vfsdb/history"

// A Moment is a point in history: the tree of Branch at the end of an Epoch. Snapshots and forks make moments. They
// can be compared with ==.
type Moment = history.Moment

// A Branch is a line of history with a head: its ID, its Name, when it was Created, the Depth of its lineage, the
// branch that it continues (Base) and where (Fork).
type Branch = history.Branch

// MainBranch is the branch of a new store. It cannot be renamed or deleted.
const MainBranch = history.MainBranch

// CheckName refuses a name that no branch or snapshot may have with EINVAL: empty, over 255 bytes, not UTF-8, with '-'
// in front, or with a slash, '@', space or control character.
func CheckName(name string) error { return history.CheckName(name) }
