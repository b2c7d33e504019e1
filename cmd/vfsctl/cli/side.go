package cli

import "vfsdb/merge"

// Sides are the sides of a merge by the words of the command line.
var Sides = map[string]merge.Side{"base": merge.Base, "ours": merge.Ours, "theirs": merge.Theirs}
