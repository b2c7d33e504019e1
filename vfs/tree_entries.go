package vfs

import (
	"iter"
	"syscall"
)

// pageSize is how many entries of a directory are read at a time.
const pageSize = 512

// entries yields the entries of a directory in order of their names, beginning after the name after. It reads a page at
// a time, so the loop may remove what it is given. It ends with the transaction's context.
func (tx *Tx) entries(dir Ino, after string) iter.Seq2[listed, error] {
	return func(yield func(listed, error) bool) {
		for more := true; more; {
			err := tx.db.Context().Err()
			if err != nil {
				yield(listed{}, err)
				return
			}
			page, err := tx.page(dir, after, pageSize)
			if err != nil {
				yield(listed{}, err)
				return
			}

			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				after = e.name
			}
			more = len(page) == pageSize
		}
	}
}

// nodeOf returns the inode that an entry of a directory shows. An entry without one is ENOENT.
func (tx *Tx) nodeOf(dir Ino, e listed) (*inode, error) {
	if e.ino == 0 {
		return nil, syscall.ENOENT
	}
	n, err := tx.inode(e.ino)
	switch {
	case err != nil:
		return nil, err
	case n == nil:
		return nil, errMissing(dir, e)
	case n.kind() != e.kind:
		return nil, errKind(e.name, e.kind, n)
	}
	return n, nil
}

// errMissing is damage: an entry shows an inode that has no row.
func errMissing(dir Ino, e listed) error {
	return corrupt("entry %q of directory %d shows inode %d, which is missing", e.name, dir, e.ino)
}

// errKind is damage: an inode never becomes another type of file, and each entry that shows it says which it is.
func errKind(name string, kind uint8, n *inode) error {
	return corrupt("entry %q shows a %s, but inode %d is a %s", name, kindName(int64(kind)), n.ino, kindName(int64(n.kind())))
}

// checkEmpty refuses a directory that has entries with ENOTEMPTY.
func (tx *Tx) checkEmpty(dir Ino) error {
	page, err := tx.page(dir, "", 1)
	if err == nil && len(page) > 0 {
		err = syscall.ENOTEMPTY
	}
	return err
}
