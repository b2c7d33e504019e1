package vfs

import "context"

// GetManyUpTo is GetMany with another bound than MaxReadSize.
func (fsys *FS) GetManyUpTo(ctx context.Context, names []string, bound int64) ([]FileResult, error) {
	return fsys.getMany(ctx, names, bound)
}
