package webdav

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"syscall"

	dav "golang.org/x/net/webdav"

	"vfsdb/vfs"
)

// An answer puts the status that the fault of a verb has in the place of the one that x/net gives to every fault.
type answer struct {
	http.ResponseWriter
	request  *request
	peer     peer
	replaced bool
}

// WriteHeader sends the status.
func (a *answer) WriteHeader(status int) {
	a.peer.mayWrite()
	if better := statusOf(a.request.fault); status >= 400 && status != http.StatusPreconditionFailed && status != dav.StatusLocked && better != 0 {
		a.replaced = true
		http.Error(a.ResponseWriter, dav.StatusText(better)+": "+a.request.fault.Error(), better)
		return
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body, unless another one was sent.
func (a *answer) Write(p []byte) (int, error) {
	if a.replaced {
		return len(p), nil
	}
	a.peer.mayWrite()
	return a.ResponseWriter.Write(p)
}

// statusOf returns the status of a fault of a change, 0 if x/net knows better.
func statusOf(err error) int {
	errno, _ := vfs.Errno(err)
	var stale *vfs.StaleError

	switch {
	case err == nil:
		return 0
	case errors.As(err, &stale), errors.Is(err, errKept):
		return http.StatusPreconditionFailed
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	case errors.Is(err, errNoSource):
		return http.StatusNotFound
	case errors.Is(err, fs.ErrNotExist), errno == syscall.ENOTDIR:
		return http.StatusConflict // what is above the new name
	case errno == syscall.EROFS, errno == syscall.EPERM, errno == syscall.EINVAL, errno == syscall.EBUSY:
		return http.StatusForbidden
	case errno == syscall.EISDIR:
		return http.StatusMethodNotAllowed
	case errno == syscall.ENAMETOOLONG:
		return http.StatusRequestURITooLong
	case errno == syscall.ENOSPC, errno == syscall.EFBIG, errno == syscall.EDQUOT:
		return http.StatusInsufficientStorage
	}
	return 0
}
