package snapshot

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"time"

	"vfsdb/tree"
	"vfsdb/vfs"
)

// nameTaken reports whether a snapshot or a branch is called name.
func nameTaken(tx *vfs.Tx, name string) (bool, error) {
	n, _, err := (*tree.Tx)(tx).DB().Int(`SELECT EXISTS (SELECT 1 FROM snapshot WHERE name = ?1) OR EXISTS (SELECT 1 FROM branch WHERE name = ?1)`, name)
	return n == 1, err
}

// MadeUpName makes a name for a snapshot or a branch that nothing has: the word what, the time, and a random number.
func MadeUpName(what string) string {
	id := make([]byte, 4)
	_, _ = rand.Read(id) // it cannot fail
	return what + "-" + time.Now().UTC().Format("20060102-150405") + "-" + hex.EncodeToString(id)
}

// nameOf returns the name of a snapshot, or of the branch whose head a tree is. Other trees have none.
func nameOf(t Tree) string {
	if s, ok := t.(*Snapshot); ok {
		return s.Info.Name
	}
	if t == nil || t.Tree().Frozen() {
		return ""
	}
	return t.Tree().Head()
}

// Label names a tree in a note, a conflict or an error: by its snapshot or its branch, else as [vfs.FS.Name] does.
func Label(t Tree) string {
	if s, ok := t.(*Snapshot); ok {
		return s.Info.Name
	}
	return cmp.Or(t.Tree().Head(), t.Tree().Name())
}

// nameErr adds the operation and the name to an error that has none yet.
func nameErr(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var pe *fs.PathError
	var le *os.LinkError
	if errors.As(err, &pe) || errors.As(err, &le) {
		return err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}
