package tree

import "context"

// PublishPins publishes for collectors which inodes and contents the open files of this store need. That happens once a
// second anyway; a collector in the same process need not wait for it.
func (fsys *Tree) PublishPins(ctx context.Context) error {
	return fsys.store.lease.Answer(ctx)
}
