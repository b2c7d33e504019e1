// Package since finds what an export takes that is to hold only what has changed: the names of a tree that an older tree
// does not have, or has otherwise.
package since
