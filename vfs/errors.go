package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/schema"
)

// ErrCorrupt is damage in the file: a chunk without its sum, a missing row, a directory below itself. Such an error is
// EIO too, and [Errno] finds that.
var ErrCorrupt = schema.ErrCorrupt

// Sum is the address of a content, see [Tx.Sum].
type Sum = chunk.Sum

// SumOf returns the sum of a file with the content p, of up to one chunk (512 KiB). No file has the sum of a longer p.
func SumOf(p []byte) Sum { return chunk.SumOf(p) }

// A StaleError is a write that [IfSum] or [IfAbsent] refused. It is ESTALE. A refused IfAbsent is [fs.ErrExist] too,
// and an IfSum where no file is, [fs.ErrNotExist].
type StaleError struct {
	Exists bool // there is something under the name
	Sum    Sum  // of the content that is there now; zero if Exists is false, or it is not a regular file
	absent bool // the write asked that nothing be there
}

func (e *StaleError) Error() string {
	switch {
	case e.absent:
		return "it exists already"
	case !e.Exists:
		return "it no longer exists"
	}
	return fmt.Sprintf("it has changed: its sum is now %v", e.Sum)
}

// Is reports the errnos that a StaleError stands for.
func (e *StaleError) Is(target error) bool {
	switch target {
	case syscall.ESTALE:
		return true
	case syscall.EEXIST, fs.ErrExist:
		return e.absent
	case syscall.ENOENT, fs.ErrNotExist:
		return !e.absent && !e.Exists
	}
	return false
}

// pathErr names the verb and the path of an error, once. An [os.LinkError] or [fs.PathError] stays as it is.
func pathErr(op, name string, err error) error {
	if err == nil {
		return nil
	}
	switch err.(type) {
	case *fs.PathError, *os.LinkError:
		return err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// linkErr is pathErr for verbs with two names.
func linkErr(op, from, to string, err error) error {
	if err == nil {
		return nil
	}
	switch err.(type) {
	case *fs.PathError, *os.LinkError:
		return err
	}
	return &os.LinkError{Op: op, Old: from, New: to, Err: err}
}

// corrupt is a fault of the tables.
func corrupt(format string, args ...any) error { return schema.Corrupt(format, args...) }

// Errno returns the errno inside err, if there is one.
func Errno(err error) (syscall.Errno, bool) {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno, true
	}
	if errors.Is(err, syscall.ESTALE) {
		return syscall.ESTALE, true
	}
	return 0, false
}
