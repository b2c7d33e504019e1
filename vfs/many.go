package vfs

import (
	"context"
	"io/fs"
	"slices"
	"syscall"

	"vfsdb/chunk"
)

// A FileData is one file of [FS.PutMany] or [FS.GetMany].
type FileData struct {
	Name string
	Data []byte
	Perm fs.FileMode // of a new file; PutMany only
}

// PutMany writes many files in one commit and returns their errors in the same order; nil where a file was written.
// Those that can be written are, unless allOrNothing is set: then one error leaves all as it was, and the
// second result says which. Options go for each file: IfAbsent, Parents.
func (fsys *FS) PutMany(ctx context.Context, files []FileData, allOrNothing bool, opts ...Option) ([]error, error) {
	prepared := make([]*chunk.Draft, len(files))
	for i, file := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		prepared[i] = fsys.store.prepare(file.Data)
	}
	results := make([]error, len(files))
	err := fsys.Update(ctx, func(tx *Tx) error {
		for i, file := range files {
			results[i] = pathErr("write", file.Name, tx.writeFile(file.Name, prepared[i], file.Perm, opts))
			if results[i] != nil && (allOrNothing || !harmless(results[i])) {
				return results[i]
			}
		}
		return nil
	})
	return results, pathErr("write", fsys.name, err)
}

// harmless reports whether a write that failed leaves its transaction fit to go on: it does when the file was refused,
// which is decided before anything is stored, but for the directories that Parents made.
func harmless(err error) bool {
	errno, ok := Errno(err)
	return ok && slices.Contains(refusals, errno)
}

// refusals are the errnos of a file that cannot be written, when nothing is wrong with the store.
var refusals = []syscall.Errno{
	syscall.ENOENT, syscall.ENOTDIR, syscall.EISDIR, syscall.EEXIST, syscall.EINVAL, syscall.ELOOP, syscall.ENAMETOOLONG,
	syscall.EFBIG, syscall.ESTALE,
}

// A FileResult is what [FS.GetMany] found under a name.
type FileResult struct {
	Name string
	Data []byte
	Sum  Sum
	Err  error
}

// GetMany reads many files at one moment, and returns what it found in the order of the names. The files together hold
// [MaxReadSize] bytes at most: one that would be more than is left is EFBIG.
func (fsys *FS) GetMany(ctx context.Context, names []string) ([]FileResult, error) {
	return fsys.getMany(ctx, names, MaxReadSize)
}

func (fsys *FS) getMany(ctx context.Context, names []string, room int64) ([]FileResult, error) {
	results := make([]FileResult, len(names))
	err := fsys.View(ctx, func(tx *Tx) error {
		for i, name := range names {
			if err := ctx.Err(); err != nil {
				return err
			}
			r := &results[i]
			r.Name = name
			r.Data, r.Sum, r.Err = tx.get(name, room)
			r.Err = pathErr("read", name, r.Err)
			room -= int64(len(r.Data))
		}
		return nil
	})
	return results, pathErr("read", fsys.name, err)
}

// get reads a file of up to room bytes.
func (tx *Tx) get(name string, room int64) ([]byte, Sum, error) {
	_, node, err := tx.findFile(name)
	if err != nil {
		return nil, Sum{}, err
	}
	data, err := tx.readUpTo(node.content, 0, node.content.Size, room)
	if err != nil {
		return nil, Sum{}, err
	}
	sum, err := chunk.SumOfContent(tx.db, node.content)
	return data, sum, err
}
