package nodejs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"vfsdb/agent/tool"
	"vfsdb/vfs"
)

// Describe words an error as Node does: "ENOENT: no such file or directory, open '/a'".
func Describe(err error) (code, path, message string) {
	code = codeOf(err)
	message = code + ": " + reason(err)
	var at *tool.CallError
	if errors.As(err, &at) {
		path = at.Path
		message += ", " + at.What()
	}
	return code, path, message
}

// codeOf returns the code of an error; EIO where none fits.
func codeOf(err error) string {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return "ABORT_ERR"
	}
	if errno, ok := vfs.Errno(err); ok {
		if known, ok := errnos[errno]; ok {
			return known.code
		}
	}
	return "EIO"
}

// reason returns the reason of an error: in Node's words where there is no more than an errno.
func reason(err error) string {
	if at, ok := err.(*tool.CallError); ok {
		err = at.Err
	}
	var gone *tool.GoneError
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &gone):
		return gone.Error()
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	if errno, ok := err.(syscall.Errno); ok && errnos[errno].text != "" {
		return errnos[errno].text
	}
	return err.Error()
}

// errnos are the codes of errors, and the words for them where they differ from those of the system.
var errnos = map[syscall.Errno]struct{ code, text string }{
	syscall.ENOENT:       {"ENOENT", ""},
	syscall.ENOTEMPTY:    {"ENOTEMPTY", ""},
	syscall.ENOTDIR:      {"ENOTDIR", ""},
	syscall.EISDIR:       {"EISDIR", "illegal operation on a directory"},
	syscall.EEXIST:       {"EEXIST", "file already exists"},
	syscall.EINVAL:       {"EINVAL", ""},
	syscall.ELOOP:        {"ELOOP", "too many symbolic links encountered"},
	syscall.EPERM:        {"EPERM", ""},
	syscall.EIO:          {"EIO", "i/o error"},
	syscall.EACCES:       {"EACCES", ""},
	syscall.EROFS:        {"EROFS", ""},
	syscall.EFBIG:        {"EFBIG", ""},
	syscall.EDQUOT:       {"EDQUOT", ""},
	syscall.ENOSPC:       {"ENOSPC", ""},
	syscall.EBUSY:        {"EBUSY", "resource busy or locked"},
	syscall.ESTALE:       {"ESTALE", ""},
	syscall.ENAMETOOLONG: {"ENAMETOOLONG", "name too long"},
}
