package transfer

import (
	"vfsdb/chunk"
)

// An entry is a file, directory or other name on its way into the store. Many are in memory at a time, so it is small.
type entry struct {
	path string // inside the destination; "" is the destination itself
	attr
	target string      // of a symlink
	data   *chunk.Item // of a regular file that was read
	length int64       // of one that a dry run has not read
	twin   *twin       // of one that was not read, because the store has it
	same   *entry      // of a further name of a file: the entry with its first name
	names  []string    // the further names
	placed string      // the path at which a file got its first name
	gone   bool        // a later entry took its name, or it could not be read
}

// first returns the entry with the first name of the file that e names.
func (e *entry) first() *entry {
	for e.same != nil {
		e = e.same
	}
	return e
}

// size returns the length of a regular file's content, and 0 for anything else.
func (e *entry) size() int64 {
	switch {
	case e.data != nil:
		return e.data.Size()
	case e.twin != nil:
		return e.twin.size
	}
	return e.length
}
