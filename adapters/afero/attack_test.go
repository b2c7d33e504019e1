package aferofs_test

import (
	"context"
	"testing"

	"github.com/spf13/afero"

	"vfsdb/adapters/afero"
	"vfsdb/internal/adaptertest"
	"vfsdb/vfs"
)

func TestAttack(t *testing.T) {
	adaptertest.Run(t, func(ctx context.Context, fsys *vfs.FS) adaptertest.Adapter {
		a := aferofs.New(ctx, fsys)
		return adaptertest.Of[afero.File](a, a.SymlinkIfPossible)
	})
}
