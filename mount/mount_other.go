//go:build !linux

package mount

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"vfsdb/vfs"
)

// A Mount is a tree that is shown as a directory of the host. There is none on this system.
type Mount struct{}

// Frozen is ENOSYS: only Linux has mounts yet.
func Frozen(_ context.Context, _ *vfs.FS, dir string) (*Mount, error) {
	return nil, fmt.Errorf("mount %s: %w", dir, syscall.ENOSYS)
}

// All is ENOSYS.
func All(_ context.Context, _ *vfs.FS, dir string) (*Mount, error) {
	return nil, fmt.Errorf("mount %s: %w", dir, syscall.ENOSYS)
}

// LiveOptions are the ways to mount a live tree.
type LiveOptions struct {
	// Gather is for how long changes are gathered before they are committed together.
	Gather time.Duration
}

// Live is ENOSYS: only Linux has mounts yet.
func Live(ctx context.Context, fsys *vfs.FS, dir string, _ *LiveOptions) (*Mount, error) {
	return Frozen(ctx, fsys, dir)
}

// Unmount does nothing.
func (*Mount) Unmount() error { return nil }

// Detach does nothing.
func (*Mount) Detach() error { return nil }

// Done returns nil.
func (*Mount) Done() <-chan struct{} { return nil }

// Sweep does nothing.
func Sweep(string) error { return nil }
