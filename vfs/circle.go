package vfs

// manyMoves is how often a search may come by directories again beyond once for each.
const manyMoves = 1000

// enter is called before a search goes into a directory that it found under a path. To come by one twice is no fault if
// it was moved meanwhile, so the tree is asked whether the path leads through it twice, or it has two names, now. What is
// listed and cannot be looked up answers neither, and is not followed for good.
func (e *entered) enter(tx *Tx, dir Ino, path string) error {
	if e.add(dir) {
		return nil
	}
	if e.again > e.first+manyMoves {
		return corrupt("directory %d, and others, are listed again and again", dir)
	}
	if _, err := tx.walk(path, false); err != nil && !harmless(err) {
		return err
	}
	return tx.oneName(dir)
}
