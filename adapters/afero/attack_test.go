package aferofs_test

import (
	"context"
	"io/fs"
	"testing"

	"vfsdb/adapters/afero"
	"vfsdb/internal/adaptertest"
	"vfsdb/vfs"
)

func TestAttack(t *testing.T) {
	adaptertest.Run(t, func(ctx context.Context, fsys *vfs.FS) adaptertest.Adapter {
		a := aferofs.New(ctx, fsys)
		return adaptertest.Adapter{
			OpenFile: func(name string, flag int, perm fs.FileMode) (adaptertest.File, error) {
				f, err := a.OpenFile(name, flag, perm)
				return f, err
			},
			Stat: a.Stat, Rename: a.Rename, Remove: a.Remove, MkdirAll: a.MkdirAll, Symlink: a.SymlinkIfPossible,
		}
	})
}
