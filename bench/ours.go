package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"time"

	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// openNew makes a store in the workload's directory, with durable commits.
func (b *bench) openNew(name string) (*vfs.FS, error) {
	return vfs.Open(b.ctx, b.path("%s.db", name), nil)
}

// fill makes files and their directories below root, in two commits.
func fill(ctx context.Context, fsys *vfs.FS, root string, files []file) error {
	if err := makeDirs(ctx, fsys, root, files); err != nil {
		return err
	}
	return writeFiles(ctx, fsys, root, files)
}

// makeDirs makes the directories of files, below root, in one commit.
func makeDirs(ctx context.Context, fsys *vfs.FS, root string, files []file) error {
	return fsys.Update(ctx, func(tx *vfs.Tx) error {
		for _, dir := range dirsOf(files) {
			if err := tx.MkdirAll(root+dir, 0o755); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeFiles writes files below root in one commit.
func writeFiles(ctx context.Context, fsys *vfs.FS, root string, files []file) error {
	return fsys.Update(ctx, func(tx *vfs.Tx) error {
		for _, f := range files {
			if err := tx.WriteFile(root+f.name, f.data, 0o644); err != nil {
				return err
			}
		}
		return nil
	})
}

// removeFiles removes files below root one by one, in one commit.
func removeFiles(ctx context.Context, fsys *vfs.FS, root string, files []file) error {
	return fsys.Update(ctx, func(tx *vfs.Tx) error {
		for _, f := range files {
			if err := tx.Remove(root + f.name); err != nil {
				return err
			}
		}
		return nil
	})
}

// writes times fn, which writes to a store. After fn has returned, the store folds its log into the file. That is
// neither in this time nor in that of the next side, just as settle keeps the host's writing out of both.
func (b *bench) writes(fsys *vfs.FS, fn func() error) (time.Duration, error) {
	t, err := b.timed(fn)
	if err == nil {
		_, err = fsys.Store().Checkpoint(b.ctx)
	}
	return t, err
}

// bytesOf returns how many bytes of the file are in use.
func bytesOf(ctx context.Context, fsys *vfs.FS) (int64, error) {
	var total, free int64
	err := (*tree.Tree)(fsys).DB().View(ctx, func(tx *schema.Tx) (err error) {
		total, free, err = tx.Pages()
		return err
	})
	return (total - free) * schema.PageSize, err
}

// forest returns the path of a new store with n small files, 100 per directory. The first store of a size is built, and
// each later one is a copy of it.
func (b *bench) forest(n int) (string, error) {
	first := filepath.Join(b.root, "forest-"+strconv.Itoa(n)+".db")
	if _, err := os.Stat(first); err != nil {
		if err := plant(b.ctx, first, n, b.alive); err != nil {
			return "", err
		}
	}
	own := b.path("forest-%d.db", n)
	return own, copyFile(first, own)
}

// plant builds a forest. Its time is not measured, so it need not be durable.
func plant(ctx context.Context, name string, n int, alive func()) error {
	fsys, err := vfs.Open(ctx, name, &vfs.Options{Relaxed: true})
	if err != nil {
		return err
	}

	const commit = 10_000 // files
	for from := 0; from < n; from += commit {
		err := fsys.Update(ctx, func(tx *vfs.Tx) error {
			for i := from; i < min(from+commit, n); i++ {
				if err := plantOne(tx, i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return errors.Join(err, fsys.Close())
		}

		if from%100_000 == 0 {
			alive()
		}
	}
	return fsys.Close()
}

// plantOne writes file i of a forest: 32 bytes unlike any other.
func plantOne(tx *vfs.Tx, i int) error {
	name := pathOf(i)
	if i%100 == 0 {
		if err := tx.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
	}
	data := make([]byte, 32)
	stamp(data, 7, uint64(i))
	return tx.WriteFile(name, data, 0o644)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()

	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// withForest runs fn on a forest of n files.
func (b *bench) withForest(n int, fn func(fsys *vfs.FS) error) error {
	name, err := b.forest(n)
	if err != nil {
		return err
	}
	fsys, err := vfs.Open(b.ctx, name, nil)
	if err != nil {
		return err
	}
	defer fsys.Close()
	return fn(fsys)
}
