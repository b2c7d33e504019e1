package transfer

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"vfsdb/chunk"
	"vfsdb/internal/sparse"
	"vfsdb/vfs"
)

// An archiveWriter takes entries as a [tar.Writer] does.
type archiveWriter interface {
	WriteHeader(*tar.Header) error
	io.WriteCloser
	hardLinks() bool // whether it can hold them

	// putXattrs puts the extended attributes of a file into its header, and returns the names of those that the archive
	// cannot hold.
	putXattrs(h *tar.Header, info *vfs.Info) []string
}

func exportArchive(ctx context.Context, fsys *vfs.FS, from string, to archiveWriter, o *ExportOptions) (*Report, error) {
	x, err := newExporter(ctx, fsys, from, o)
	if err != nil {
		return nil, err
	}
	t := &archiver{exporter: x, to: to, items: make(chan []*item, 1), first: make(map[vfs.Ino]string)}
	if err := t.run(ctx); err != nil {
		return nil, err
	}
	return &x.report, to.Close()
}

// An archiver writes an archive, while it reads ahead.
type archiver struct {
	*exporter
	to    archiveWriter
	items chan []*item
	first map[vfs.Ino]string // of a file with several names
}

// run reads ahead on another goroutine and writes the archive on this one. So a panic of the caller's writer, or of its
// Progress, happens where the caller can recover from it.
func (t *archiver) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var reader sync.WaitGroup
	defer reader.Wait()
	defer stop()

	var failed error
	reader.Go(func() {
		defer close(t.items)
		if t.only.Empty() {
			return
		}
		failed = t.read(ctx, "", []string{""})
	})
	if err := t.writeAll(ctx); err != nil {
		return err
	}
	return failed
}

// read loads names of one directory and everything below them, in order.
func (t *archiver) read(ctx context.Context, dir string, names []string) error {
	for len(names) > 0 {
		items, through, err := t.load(ctx, dir, names)
		if err != nil {
			return err
		}
		names = names[through:]

		// The entries of a directory come right behind it.
		start := 0
		for i, it := range items {
			if !it.info.IsDir() {
				continue
			}
			if err := t.send(ctx, items[start:i+1]); err != nil {
				return err
			}
			start = i + 1
			if err := t.readDir(ctx, it.path); err != nil {
				return err
			}
		}
		if err := t.send(ctx, items[start:]); err != nil {
			return err
		}
	}
	return nil
}

func (t *archiver) readDir(ctx context.Context, dir string) error {
	var names []string
	err := t.list(ctx, dir, func(e fs.DirEntry) error {
		names = append(names, e.Name())
		return nil
	})
	if err != nil {
		return err
	}
	return t.read(ctx, dir, names)
}

func (t *archiver) send(ctx context.Context, items []*item) error {
	select {
	case t.items <- items:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *archiver) writeAll(ctx context.Context) error {
	for items := range t.items {
		for _, it := range items {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := t.write(ctx, it); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// write writes one entry.
func (t *archiver) write(ctx context.Context, it *item) error {
	var content *vfs.File
	if it.large() {
		var err error
		if content, err = t.open(ctx, it); content == nil {
			return err
		}
		defer content.Close()
		if t.o.Partial { // once the header is out, all of the content has to follow
			if err := sparse.Read(ctx, content); err != nil {
				return t.unreadable(it.path, err)
			}
		}
	}

	h := tarHeader(it)
	if h == nil {
		t.refuse(it.path, errUnknownType)
		return nil
	}
	linked := t.linkToFirst(it, h)
	if !linked {
		t.skipXattrs(t.to.putXattrs(h, it.info))
	}
	err := t.to.WriteHeader(h)
	if errors.Is(err, errUnknownType) {
		t.refuse(it.path, err)
		return nil
	}

	if err == nil && h.Typeflag == tar.TypeReg {
		if content != nil {
			_, err = io.CopyBuffer(t.to, content, make([]byte, chunk.Size))
		} else {
			_, err = t.to.Write(it.data)
		}
	}
	if err != nil {
		return fmt.Errorf("%q: %w", it.path, err)
	}

	t.counted(it, linked)
	if h.Typeflag == tar.TypeReg {
		t.file(it.path, h.Size)
	}
	return nil
}

// linkToFirst makes the header of a further name a hard link to the first name that went out, and reports that.
func (t *archiver) linkToFirst(it *item, h *tar.Header) bool {
	if it.info.Nlink() <= 1 || it.info.IsDir() || !t.to.hardLinks() {
		return false
	}
	name, further := t.first[it.info.Ino()]
	if !further {
		t.first[it.info.Ino()] = it.path
		return false
	}
	h.Typeflag, h.Linkname, h.Size = tar.TypeLink, name, 0
	return true
}
