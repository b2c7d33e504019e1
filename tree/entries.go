package tree

import (
	"iter"
	"syscall"

	"vfsdb/node"
	"vfsdb/schema"
)

// pageSize is how many entries of a directory are read at a time.
const PageSize = 512

// Entries yields the entries of a directory in order of their names, beginning after the name after. It reads a page at
// a time, so the loop may remove what it is given. It ends with the transaction's context.
func (tx *Tx) Entries(dir node.Ino, after string) iter.Seq2[node.Entry, error] {
	return func(yield func(node.Entry, error) bool) {
		for more := true; more; {
			err := tx.db.Context().Err()
			if err != nil {
				yield(node.Entry{}, err)
				return
			}
			page, err := tx.Page(dir, after, PageSize)
			if err != nil {
				yield(node.Entry{}, err)
				return
			}

			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				after = e.Name
			}
			more = len(page) == PageSize
		}
	}
}

// NodeOf returns the inode that an entry of a directory shows. An entry without one is ENOENT.
func (tx *Tx) NodeOf(dir node.Ino, e node.Entry) (*node.Node, error) {
	if e.Ino == 0 {
		return nil, syscall.ENOENT
	}
	n, err := tx.Node(e.Ino)
	switch {
	case err != nil:
		return nil, err
	case n == nil:
		return nil, errMissing(dir, e)
	case n.Kind() != e.Kind:
		return nil, errKind(e.Name, e.Kind, n)
	}
	return n, nil
}

// errMissing is damage: an entry shows an inode that has no row.
func errMissing(dir node.Ino, e node.Entry) error {
	return schema.Corrupt("entry %q of directory %d shows inode %d, which is missing", e.Name, dir, e.Ino)
}

// errKind is damage: an inode never becomes another type of file, and each entry that shows it has that type.
func errKind(name string, kind uint8, n *node.Node) error {
	return schema.Corrupt("entry %q shows a %s, but inode %d is a %s", name, node.KindName(int64(kind)), n.Ino, node.KindName(int64(n.Kind())))
}

// checkEmpty refuses a directory that has entries with ENOTEMPTY.
func (tx *Tx) checkEmpty(dir node.Ino) error {
	page, err := tx.Page(dir, "", 1)
	if err == nil && len(page) > 0 {
		err = syscall.ENOTEMPTY
	}
	return err
}
