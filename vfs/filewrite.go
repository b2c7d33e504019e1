package vfs

import (
	"os"
	"syscall"
)

// Write writes where the last Read, Write or Seek ended; with O_APPEND, at the end of the file, and commits that.
func (f *File) Write(p []byte) (int, error) {
	f.position.Lock()
	defer f.position.Unlock()
	if err := f.check("write", f.writable()); err != nil {
		return 0, err
	}
	if f.flag&os.O_APPEND != 0 {
		return f.append(p)
	}
	n, err := f.writeAt(p, f.off)
	f.off += int64(n)
	return n, err
}

// append adds p at the end, which is then where the next Read begins.
func (f *File) append(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	size, err := f.handle.Append(p)
	if err != nil {
		return 0, f.err("write", err)
	}
	f.off = size
	return len(p), nil
}

// WriteAt writes at an offset. On a file opened with O_APPEND it is EINVAL.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	if err := f.check("write", f.writable()); err != nil {
		return 0, err
	}
	if f.flag&os.O_APPEND != 0 {
		return 0, f.err("write", syscall.EINVAL)
	}
	return f.writeAt(p, off)
}

func (f *File) writeAt(p []byte, off int64) (int, error) {
	n, err := f.handle.WriteAt(p, off)
	return n, f.err("write", err)
}

// Truncate makes the file size bytes long, as a write, to be committed. On a file not opened for writing it is EINVAL.
func (f *File) Truncate(size int64) error {
	return f.err("truncate", f.handle.Truncate(size))
}

// Sync commits what any File of this store has written to the file. When it has returned nil, that is durable.
func (f *File) Sync() error {
	if err := f.check("sync", true); err != nil {
		return err
	}
	return f.err("write", f.handle.Sync())
}
