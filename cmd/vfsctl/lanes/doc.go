// Package lanes draws a history beside its lines, as git log --graph does: a star for each node, in a lane that leads down to
// its parents. It knows nothing of what the nodes are. The caller gives each node after all its children, with its parents.
package lanes
