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
	"vfsdb/vfs"
)

// ExportTar writes what is inside the directory from of the store as a tar stream in the PAX format, sorted by name
// within each directory. The directory itself is the entry "./". A file that has several names in it is there once,
// with hard links. Holes are written as zeros.
func ExportTar(ctx context.Context, fsys *vfs.FS, from string, w io.Writer, o *ExportOptions) (*Report, error) {
	report, err := exportArchive(ctx, fsys, from, tarArchive{tar.NewWriter(w)}, o)
	if err != nil {
		return nil, fmt.Errorf("export tar of %s: %w", from, err)
	}
	return report, nil
}

// An archiveWriter takes entries as a [tar.Writer] does.
type archiveWriter interface {
	WriteHeader(*tar.Header) error
	io.WriteCloser
	hardLinks() bool // it knows them
}

// A tarArchive is a tar, which knows hard links.
type tarArchive struct{ *tar.Writer }

func (tarArchive) hardLinks() bool { return true }

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

// run reads ahead on another goroutine. The archive is written on this one: what the caller's writer does there, a panic
// included, happens to the caller, and so it is with Progress.
func (t *archiver) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var reader sync.WaitGroup
	defer reader.Wait()
	defer stop()
	var failed error
	reader.Go(func() {
		defer close(t.items)
		failed = t.read(ctx, "", []string{""})
	})
	if err := t.writeAll(ctx); err != nil {
		return err
	}
	return failed
}

// An archiver writes an archive, while it reads ahead.
type archiver struct {
	*exporter
	to    archiveWriter
	items chan []*item
	first map[vfs.Ino]string // of a file with several names
}

// read loads names of one directory and what is below them, in order.
func (t *archiver) read(ctx context.Context, dir string, names []string) error {
	for len(names) > 0 {
		items, through, err := t.load(ctx, dir, names)
		if err != nil {
			return err
		}
		names = names[through:]
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

func (t *archiver) write(ctx context.Context, it *item) error {
	var content *vfs.File
	if it.large() {
		f, err := t.open(ctx, it)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return t.removed(ctx, it.path)
		case err != nil:
			return t.unreadable(it.path, err)
		}
		defer f.Close()
		if t.o.Partial { // once its header is out, all of it has to follow
			if err := readable(ctx, f, make([]byte, chunk.Size)); err != nil {
				return t.unreadable(it.path, err)
			}
		}
		content = f
	}
	h := tarHeader(it)
	if h == nil {
		t.refuse(it.path, errUnknownType)
		return nil
	}
	linked := false
	if it.info.Nlink() > 1 && !it.info.IsDir() && t.to.hardLinks() {
		var name string
		if name, linked = t.first[it.info.Ino()]; linked {
			h.Typeflag, h.Linkname, h.Size = tar.TypeLink, name, 0
		} else {
			t.first[it.info.Ino()] = it.path
		}
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

// counted counts an item that has gone out.
func (x *exporter) counted(it *item, linked bool) {
	x.count(func(r *Report) {
		switch {
		case linked || it.info.Mode().Type() == fs.ModeSymlink:
			r.Links++
		case !it.info.IsDir():
			r.Files++
			r.Bytes += it.info.Size()
		case it.path != "":
			r.Dirs++
		}
	})
}

// tarHeader describes an item; nil for a socket, which an archive cannot hold.
func tarHeader(it *item) *tar.Header {
	i := it.info
	h := &tar.Header{Format: tar.FormatPAX, Name: it.path, ModTime: i.ModTime(), Mode: int64(unixPerm(i.Mode()))}
	h.Uid, h.Gid = i.Owner()
	switch i.Mode().Type() {
	case 0:
		h.Typeflag, h.Size = tar.TypeReg, i.Size()
	case fs.ModeDir:
		h.Typeflag = tar.TypeDir
		h.Name += "/"
		if it.path == "" {
			h.Name = "./"
		}
	case fs.ModeSymlink:
		h.Typeflag, h.Linkname = tar.TypeSymlink, i.Target()
	case fs.ModeNamedPipe:
		h.Typeflag = tar.TypeFifo
	case fs.ModeDevice | fs.ModeCharDevice:
		h.Typeflag, h.Devmajor, h.Devminor = tar.TypeChar, devMajor(i.Rdev()), devMinor(i.Rdev())
	case fs.ModeDevice:
		h.Typeflag, h.Devmajor, h.Devminor = tar.TypeBlock, devMajor(i.Rdev()), devMinor(i.Rdev())
	default:
		return nil
	}
	return h
}
