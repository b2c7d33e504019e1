// Package history has the commands of vfsctl that work on the past of a tree: snapshots, branches, the differences
// between trees, and the log of changes. Each file holds one command and has its name.
package history
