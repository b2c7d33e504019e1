package webdav

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"

	dav "golang.org/x/net/webdav"

	"vfsdb/vfs"
)

// A request is one request on a tree, and the [dav.FileSystem] that serves it. The steps of x/net for
// one change are gathered here into one commit, see transfer.go.
type request struct {
	*http.Request
	fsys    *vfs.FS
	options []vfs.Option // of a PUT
	fault   error        // of the change that the request is about
}

// note keeps the fault of a change for the answer, and returns it.
func (q *request) note(err error) error {
	q.fault = err
	return err
}

// Mkdir creates a directory, or a copy of one.
func (q *request) Mkdir(ctx context.Context, name string, perm os.FileMode) error {
	if q.Method == "COPY" {
		return q.note(q.copy(ctx, name))
	}
	return q.note(q.fsys.Mkdir(ctx, name, 0o755))
}

// RemoveAll removes a path with all that is below it. A COPY or a MOVE removes what it replaces with its last step.
func (q *request) RemoveAll(ctx context.Context, name string) error {
	if q.Method == "COPY" || q.Method == "MOVE" {
		return nil
	}
	return q.note(q.fsys.RemoveAll(ctx, name))
}

// Rename moves a file or a directory.
func (q *request) Rename(ctx context.Context, from, to string) error {
	return q.note(q.move(ctx, from, to))
}

// Stat describes the file that a path leads to.
func (q *request) Stat(ctx context.Context, name string) (os.FileInfo, error) {
	found, err := q.fsys.Stat(ctx, name)
	if err != nil {
		return nil, err
	}
	return info{found, func() (vfs.Sum, error) { return q.fsys.Sum(ctx, name) }}, nil
}

// OpenFile opens a file as one frozen content, or begins an upload. The other uses that x/net has for writing are
// finished when it returns.
func (q *request) OpenFile(ctx context.Context, name string, flag int, _ os.FileMode) (dav.File, error) {
	if flag&os.O_CREATE != 0 {
		switch q.Method {
		case "COPY":
			return done{name: name}, q.note(q.copy(ctx, name))
		case http.MethodPut:
			return &upload{ctx: ctx, request: q, name: name}, q.note(q.receives(ctx, name))
		}

		// A lock of a path where nothing is makes an empty file there.
		err := q.fsys.WriteFile(ctx, name, nil, 0o644, vfs.IfAbsent())
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, q.note(err)
		}
	}

	f, err := q.fsys.OpenFrozen(ctx, name)
	if absent(err) {
		err = q.note(fmt.Errorf("%w: %w", errNoSource, err))
	}
	if err != nil {
		return nil, err
	}
	opened := &file{File: f, ctx: ctx, request: q, name: name}
	if q.Method == "COPY" {
		return source{opened}, nil
	}
	return opened, nil
}

// receives fails if an upload to a path could not end well.
func (q *request) receives(ctx context.Context, name string) error {
	return q.fsys.View(ctx, func(tx *vfs.Tx) error {
		name, err := tx.Resolve(name, true)
		if err != nil {
			return err
		}
		switch found, err := tx.Stat(name); {
		case err == nil && found.IsDir():
			return syscall.EISDIR
		case err == nil && !found.Mode().IsRegular():
			return syscall.EINVAL
		case err == nil || !errors.Is(err, fs.ErrNotExist):
			return err
		}

		above := "."
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			above = name[:i]
		}
		found, err := tx.Stat(above)
		if err == nil && !found.IsDir() {
			err = syscall.ENOTDIR
		}
		return err
	})
}

// precondition turns the headers that make a PUT a compare-and-set into options. One that fails already is answered.
func (q *request) precondition(w http.ResponseWriter) bool {
	match, none := q.Header.Get("If-Match"), q.Header.Get("If-None-Match")
	if match == "" && none == "" || slices.Contains(reads, q.Method) {
		return true
	}
	refuse := func(status int, why string) bool {
		http.Error(w, http.StatusText(status)+": "+why, status)
		return false
	}
	if q.Method != http.MethodPut {
		return refuse(http.StatusPreconditionFailed, "If-Match and If-None-Match are for PUT")
	}

	if none != "" {
		if none != "*" || match != "" {
			return refuse(http.StatusPreconditionFailed, "If-None-Match has to be *, and alone")
		}
		q.options = append(q.options, vfs.IfAbsent())
		return true
	}
	sum, err := q.fsys.Sum(q.Context(), q.URL.Path)
	if err != nil || match != "*" && match != etag(sum) {
		return refuse(http.StatusPreconditionFailed, "the file has another content")
	}
	q.options = append(q.options, vfs.IfSum(sum))
	return true
}
