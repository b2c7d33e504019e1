package search

import "vfsdb/node"

// A batch is some files that follow each other in a walk. One goroutine searches them.
type batch struct {
	files    []candidate
	outcomes []outcome
	err      error         // that ended the batch after outcomes
	done     chan struct{} // closed when the batch is searched
}

// An outcome is the result for one file.
type outcome struct {
	path    string
	matches []GrepMatch
	binary  bool // not searched
	large   bool // not searched, or not to its end
	scanned bool
}

// A candidate is a file to be searched, or a directory, by its path.
type candidate struct {
	path string
	ino  node.Ino
}
