package billyfs

import (
	"vfsdb/vfs"
)

// A file is an open file of a tree.
type file struct {
	*vfs.File
	tree *Filesystem
	name string
	lock heldLock
}

// Name returns the path that the file was opened by, without a slash in front.
func (f *file) Name() string { return f.name }

// Close commits what was written, ends the file and gives its lock back.
func (f *file) Close() error {
	err := f.File.Close()
	f.lock.release(true)
	return err
}

// Lock waits until no other open file of this process has locked the same file of the same branch, and locks it until
// Unlock or Close. A file that has the lock already keeps it. The end of the Filesystem's context ends the wait. Other
// processes are not kept out: each of their commits is whole without it.
func (f *file) Lock() error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	key := lockKey{f.tree.fsys.Store(), f.tree.fsys.Moment().Branch, info.(*vfs.Info).Ino()}
	return f.lock.acquire(f.tree.ctx, key)
}

// Unlock gives the lock back, if the file has it.
func (f *file) Unlock() error {
	f.lock.release(false)
	return nil
}
