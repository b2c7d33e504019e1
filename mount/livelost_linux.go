package mount

import (
	"slices"
	"syscall"
	"time"

	"vfsdb/node"
)

// lose marks inodes that were made in a transaction which was not committed. Programs may have them open still, and their
// numbers will be those of other inodes: what was written to them goes, and requests on them are refused until the kernel
// learns of a new inode with the number.
func (is *inodes) lose(made []node.Ino) {
	is.mu.Lock()
	defer is.mu.Unlock()
	for _, ino := range made {
		i := is.known[ino]
		if i == nil {
			continue
		}
		if i.handle != nil {
			is.gone = append(is.gone, i.handle)
		}
		*i = inode{lookups: i.lookups, gen: i.gen, lost: true}
		is.dirty = slices.DeleteFunc(is.dirty, func(d node.Ino) bool { return d == ino })
	}
}

// isLost reports whether an inode was lost with its transaction.
func (is *inodes) isLost(ino node.Ino) bool {
	is.mu.Lock()
	defer is.mu.Unlock()
	i := is.known[ino]
	return i != nil && i.lost
}

// alive is ESTALE for an inode that was lost.
func (l *live) alive(ino node.Ino) error {
	if l.inodes.isLost(ino) {
		return syscall.ESTALE
	}
	return nil
}

// retryAfter is when a commit that has failed is tried again.
const retryAfter = time.Second

// retry has what could not be committed be tried again, though nobody may ask for it. The caller has the turn.
func (b *batch) retry() {
	if !b.retries && !b.over {
		b.retries = true
		time.AfterFunc(retryAfter, func() {
			b.turn.Lock()
			defer b.turn.Unlock()
			b.retries = false
			if !b.over {
				_ = b.commit()
			}
		})
	}
}

// end is sync, after which nothing is tried again.
func (b *batch) end() error {
	err := b.sync()
	b.turn.Lock()
	defer b.turn.Unlock()
	b.over = true
	return err
}
