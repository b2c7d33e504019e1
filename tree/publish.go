package tree

import "context"

// PublishPins tells collectors now what the open files of this store need kept. They are told once a second anyway; a
// collector in the same process need not wait for that.
func (fsys *Tree) PublishPins(ctx context.Context) error {
	return fsys.store.lease.Answer(ctx)
}
