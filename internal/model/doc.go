// Package model tests a store against a model of it. Both run the same random verbs, snapshots, branches, restores,
// comparisons, collections and reopenings. After each step both must give the same answers, errno included. See
// [vfsdb/internal/vfstest.Model].
package model
