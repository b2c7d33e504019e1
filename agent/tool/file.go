package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"vfsdb/agent/policy"
	"vfsdb/vfs"
)

// These methods are for doors that show files beside the tools, such as the resources of the Model Context Protocol.
// The same policy judges them, and the same log records them.

// A File is a regular file that a policy lets be seen.
type File struct {
	Path string // resolved, with a slash in front
	Info *vfs.Info
	Data []byte // only from ReadFile
}

// readFileTool is the name of [Toolbox.ReadFile] in the log.
const readFileTool = "resources/read"

// ReadFile reads a file whole, by its path from the root. The policy judges it and the log records it, as with any
// call. A file above max bytes is a [policy.SizeError].
func (b *Toolbox) ReadFile(ctx context.Context, name string, max int64) (*File, error) {
	input, err := json.Marshal(map[string]string{"path": name})
	if err != nil {
		return nil, err
	}
	began, call := time.Now(), Call{Tool: readFileTool, Input: input}
	b = b.here()
	entry := b.logEntry(call)
	var file *File
	result, err := b.within(ctx, b.viewing(), func(g *Guard) (any, error) {
		file, err = g.readWhole(name, max)
		return Text(""), err
	})
	if err != nil {
		result = b.failed(err)
	} else {
		result.Media = []Media{{Data: file.Data}}
	}
	b.finish(ctx, call, entry, result, time.Since(began))
	return file, err
}

func (g *Guard) readWhole(name string, max int64) (*File, error) {
	n, err := g.Open("/" + strings.TrimPrefix(name, "/")) // from the root, wherever relative paths start
	if err != nil {
		return nil, err
	}
	if !n.info.Mode().IsRegular() {
		return nil, fmt.Errorf("read '%s': it is no regular file: %w", policy.Rooted(n.path), syscall.EINVAL)
	}
	if n.info.Size() > max {
		return nil, &policy.SizeError{Path: policy.Rooted(n.path), Size: n.info.Size(), Max: max}
	}
	data, err := g.tx.ReadFile(n.path)
	return &File{policy.Rooted(n.path), n.info, data}, err
}

// Files returns up to limit regular files of the tree in the order of a walk, beginning after the path after; ""
// begins. Each page is a moment of its own: files that come and go in between do not disturb the others. Fewer than
// limit files are the last page.
func (b *Toolbox) Files(ctx context.Context, after string, limit int) ([]File, error) {
	var found []File
	b = b.here()
	_, err := b.within(ctx, b.fsys.View, func(g *Guard) (any, error) {
		w := walkAfter{g, limit, nil}
		err := w.dir(".", strings.TrimPrefix(after, "/"))
		if err == ErrEnough {
			err = nil
		}
		found = w.found
		return Text(""), err
	})
	return found, err
}

// A walkAfter collects files in the order of a walk.
type walkAfter struct {
	g     *Guard
	limit int
	found []File
}

// dir walks what comes after a path that is relative to dir.
func (w *walkAfter) dir(dir, after string) error {
	first, inside, _ := strings.Cut(after, "/")
	if inside != "" {
		sub := below(dir, first)
		switch info, err := w.g.tx.Lstat(sub); {
		case Missing(err):
		case err != nil:
			return err
		case info.IsDir():
			if err := w.dir(sub, inside); err != nil {
				return err
			}
		}
	}

	for e, err := range w.g.entries(dir, first) {
		if err != nil {
			return err
		}
		if err := w.entry(below(dir, e.Name()), e); err != nil {
			return err
		}
	}
	return nil
}

func (w *walkAfter) entry(path string, e fs.DirEntry) error {
	switch {
	case w.g.ctx.Err() != nil:
		return w.g.ctx.Err()
	case e.IsDir():
		if !w.g.box.policy.LeadsTo(path) {
			return nil
		}
		return w.dir(path, "")
	case !e.Type().IsRegular() || !w.g.box.shows(path):
		return nil
	case len(w.found) >= w.limit:
		return ErrEnough
	}
	info, err := e.Info()
	if err != nil {
		return err
	}
	w.found = append(w.found, File{Path: policy.Rooted(path), Info: info.(*vfs.Info)})
	return nil
}

// Complete returns up to limit paths that begin with typed: entries of its directory, with a slash after a directory.
// more reports whether there are others. A directory that cannot be found has none.
func (b *Toolbox) Complete(ctx context.Context, typed string, limit int) (paths []string, more bool, err error) {
	typed = strings.TrimPrefix(typed, "/")
	dir, base := ".", typed
	if i := strings.LastIndexByte(typed, '/'); i >= 0 {
		dir, base = typed[:i], typed[i+1:]
	}

	b = b.here()
	_, err = b.within(ctx, b.fsys.View, func(g *Guard) (any, error) {
		at, err := g.tx.Resolve(dir, Follow)
		if err != nil {
			return Text(""), nil
		}
		l, err := g.tx.ReadDir(at)
		if err != nil {
			return Text(""), nil
		}
		paths, more = nil, false
		for _, e := range l {
			path := below(at, e.Name())
			switch {
			case !strings.HasPrefix(e.Name(), base) || !b.shows(path) && !(e.IsDir() && b.policy.LeadsTo(path)):
			case len(paths) == limit:
				more = true
			case e.IsDir():
				paths = append(paths, path+"/")
			default:
				paths = append(paths, path)
			}
		}
		return Text(""), nil
	})

	return paths, more, err
}

// Shows reports whether the policy lets a path of the tree be seen without anybody being asked.
func (b *Toolbox) Shows(path string) bool {
	list, err := policy.Clean([]string{path})
	return err == nil && b.shows(list[0])
}

func (b *Toolbox) shows(path string) bool {
	return b.policy.MayUse(policy.List, path) == nil && !b.policy.Asks(policy.List, path)
}
