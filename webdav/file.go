package webdav

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	dav "golang.org/x/net/webdav"

	"vfsdb/vfs"
)

// etag returns the ETag of a content.
func etag(sum vfs.Sum) string { return fmt.Sprintf(`"%s"`, sum) }

// An info describes a file, with the ETag of its content.
type info struct {
	fs.FileInfo
	sum func() (vfs.Sum, error)
}

// ETag is that of a [dav.ETager].
func (i info) ETag(context.Context) (string, error) {
	sum, err := i.sum()
	if err != nil {
		return "", dav.ErrNotImplemented
	}
	return etag(sum), nil
}

// A file is a file or a directory as it was when it was opened.
type file struct {
	*vfs.File
	ctx     context.Context
	request *request
	name    string
}

// Stat describes the file.
func (f *file) Stat() (fs.FileInfo, error) {
	found, err := f.File.Stat()
	if err != nil {
		return nil, err
	}
	return info{found, f.Sum}, nil
}

// Readdir describes all entries of a directory.
func (f *file) Readdir(int) (list []fs.FileInfo, err error) {
	entries, err := f.ReadDir(-1)
	for _, e := range entries {
		found, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, found)
	}
	return list, err
}

// Write is refused: what writes is an upload.
func (f *file) Write([]byte) (int, error) { return 0, syscall.EBADF }

// A source is the file or the directory of a COPY. It is copied as a whole, so x/net finds nothing to copy in it.
type source struct{ *file }

// Read ends at once.
func (source) Read([]byte) (int, error) { return 0, io.EOF }

// Readdir lists nothing.
func (source) Readdir(int) ([]fs.FileInfo, error) { return nil, nil }

// A done is a copy that was made.
type done struct {
	dav.File
	name string
}

// Write takes nothing: there is nothing left to copy.
func (done) Write([]byte) (int, error) { return 0, syscall.EBADF }

// Close has nothing to do.
func (done) Close() error { return nil }

// An upload is the content that a PUT gives to a file.
type upload struct {
	dav.File
	ctx     context.Context
	request *request
	name    string
	sum     vfs.Sum // once it is stored
}

// ReadFrom makes the stream the content of the file, in one commit at its end.
func (u *upload) ReadFrom(r io.Reader) (int64, error) {
	options := append(slices.Clip(u.request.options), vfs.SumTo(&u.sum))
	n, err := u.request.fsys.WriteFrom(u.ctx, u.name, r, 0o644, options...)
	return n, u.request.note(err)
}

// Write is refused: an upload is one stream.
func (u *upload) Write([]byte) (int, error) { return 0, syscall.EBADF }

// Stat returns an info that has nothing but the ETag of the upload, which is all that x/net wants of it. The file may have
// another content by now.
func (u *upload) Stat() (os.FileInfo, error) {
	return info{nil, func() (vfs.Sum, error) { return u.sum, nil }}, nil
}

// Close has nothing to do.
func (u *upload) Close() error { return nil }
