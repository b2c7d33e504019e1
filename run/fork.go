package run

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"strings"

	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// fork makes a branch that starts as a moment was, or empty if that is nil, under a name that is free.
func fork(ctx context.Context, fsys *vfs.FS, moment *vfs.FS) (*vfs.FS, error) {
	var base snapshot.Tree
	if moment != nil {
		base = moment
	}
	for {
		made, err := snapshot.Branch(ctx, fsys, base, "run-"+strings.ToLower(rand.Text()[:8]))
		if !errors.Is(err, fs.ErrExist) {
			return made, err
		}
	}
}
