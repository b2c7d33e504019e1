// Package level reads rows through the levels of a lineage: those of the branch itself, and of the moments that it was forked
// from, the nearest first. It knows which levels a look-up may pass over, and asks several in one statement.
//
// It is a part of room tree, whose tables it reads.
package level
