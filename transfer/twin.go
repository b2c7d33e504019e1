package transfer

import (
	"errors"

	"vfsdb/vfs"
)

// A twin is the file that the store already has in the place of a file that is not read.
type twin struct {
	ino      vfs.Ino
	changed  int64
	size     int64
	sameAttr bool // it has the same attributes too
}

// errMoved means that the store has changed some of the files that were not read.
var errMoved = errors.New("the store has changed")

// moved returns the entries that were not read and whose file in the store was changed since.
func moved(tx *vfs.Tx, to destination, entries []*entry) (list []*entry, err error) {
	for _, e := range entries {
		if e.twin == nil || e.gone {
			continue
		}
		info, err := tx.Lstat(to.path(e.path))
		if _, ok := vfs.Errno(err); err != nil && !ok {
			return nil, err
		}
		if err != nil || info.Ino() != e.twin.ino || info.ChangeTime().UnixNano() != e.twin.changed {
			list = append(list, e)
		}
	}
	return list, nil
}

// whole reports whether a file has the same names in the store as in the source, and no others.
func (e *entry) whole(tx *vfs.Tx, to destination) (bool, error) {
	first, err := tx.Lstat(to.path(e.path))
	if err == nil && first.Mode().IsRegular() && first.Nlink() == 1+len(e.names) {
		for _, name := range e.names {
			other, err := tx.Lstat(to.path(name))
			if err != nil || other.Ino() != first.Ino() {
				return false, unlessErrno(err)
			}
		}
		return true, nil
	}
	return false, unlessErrno(err)
}

// unlessErrno returns nil for an error about one name, and any other error as it is.
func unlessErrno(err error) error {
	if _, ok := vfs.Errno(err); ok {
		return nil
	}
	return err
}
