// Package model holds the test that compares a store with a model of it. Random verbs, snapshots, branches, restores,
// comparisons, collections and reopenings are done to both, and after each step both must tell the same, errno
// included. See [vfsdb/internal/vfstest.Model].
package model
