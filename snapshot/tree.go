package snapshot

import (
	"vfsdb/tree"
	"vfsdb/vfs"
)

// headIn stands on the head of a branch, as part of the transaction that makes the branch. The FS is for after the commit,
// and of no use without it: nothing may fail once all is committed.
func headIn(tx *vfs.Tx, name string) (*vfs.FS, error) {
	t := (*tree.Tx)(tx)
	head, err := t.Tree().Store().HeadIn(t.DB(), name)
	return (*vfs.FS)(head), nameErr("branch", name, err)
}

// momentIn stands on a past moment, as part of the transaction that makes it one that is kept.
func momentIn(tx *vfs.Tx, at vfs.Moment) (*vfs.FS, error) {
	t := (*tree.Tx)(tx)
	past, err := t.Tree().Store().AtIn(t.DB(), at)
	return (*vfs.FS)(past), err
}
