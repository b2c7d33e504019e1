package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"vfsdb/vfs"
)

// What follows is for doors that show files beside the tools, such as the resources of the Model Context Protocol. It
// is under the same policy, and in the same log.

// A File is a regular file that a policy lets be seen.
type File struct {
	Path string // resolved, with a slash in front
	Info *vfs.Info
	Data []byte // only from ReadFile
}

// readFileTool is what [Toolbox.ReadFile] is called in the log.
const readFileTool = "resources/read"

// ReadFile reads a file whole, by its path from the root, as a call that the policy judges and the log holds. One above max bytes is a
// [SizeError].
func (b *Toolbox) ReadFile(ctx context.Context, name string, max int64) (*File, error) {
	input, err := json.Marshal(map[string]string{"path": name})
	if err != nil {
		return nil, err
	}
	began, call := time.Now(), Call{Tool: readFileTool, Input: input}
	b = b.Here()
	entry := b.logEntry(call)
	var file *File
	result, err := b.Within(ctx, b.Viewing(), func(g *Guard) (any, error) {
		file, err = g.readWhole(name, max)
		return Text(""), err
	})
	if err != nil {
		result = b.Failed(err)
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
	if !n.Info.Mode().IsRegular() {
		return nil, fmt.Errorf("read '%s': it is no regular file: %w", Rooted(n.Path), syscall.EINVAL)
	}
	if n.Info.Size() > max {
		return nil, &SizeError{Rooted(n.Path), n.Info.Size(), max}
	}
	data, err := g.Tx.ReadFile(n.Path)
	return &File{Rooted(n.Path), n.Info, data}, err
}

// Files returns up to limit regular files of the tree in the order of a walk, those that come after the path after; ""
// begins. Each page is a moment of its own: files that come and go in between do not disturb the others. Fewer than
// limit files are the last.
func (b *Toolbox) Files(ctx context.Context, after string, limit int) ([]File, error) {
	var found []File
	b = b.Here()
	_, err := b.Within(ctx, b.Fsys.View, func(g *Guard) (any, error) {
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
		switch info, err := w.g.Tx.Lstat(sub); {
		case Missing(err):
		case err != nil:
			return err
		case info.IsDir():
			if err := w.dir(sub, inside); err != nil {
				return err
			}
		}
	}
	for after := first; ; {
		page, err := w.g.Tx.ReadDirPage(dir, after, pageSize)
		if err != nil {
			return err
		}
		for _, e := range page {
			after = e.Name()
			if err := w.entry(below(dir, after), e); err != nil {
				return err
			}
		}
		if len(page) < pageSize {
			return nil
		}
	}
}

func (w *walkAfter) entry(path string, e fs.DirEntry) error {
	switch {
	case w.g.Ctx.Err() != nil:
		return w.g.Ctx.Err()
	case e.IsDir():
		if !w.g.Box.Policy.leadsTo(path) {
			return nil
		}
		return w.dir(path, "")
	case !e.Type().IsRegular() || !w.g.Box.shows(path):
		return nil
	case len(w.found) >= w.limit:
		return ErrEnough
	}
	info, err := e.Info()
	if err != nil {
		return err
	}
	w.found = append(w.found, File{Path: Rooted(path), Info: info.(*vfs.Info)})
	return nil
}

// Complete returns up to limit paths that begin with what somebody has typed of one: entries of the directory it is in,
// a slash after those that are directories; more reports whether there are others. What cannot be found begins nothing.
func (b *Toolbox) Complete(ctx context.Context, typed string, limit int) (paths []string, more bool, err error) {
	typed = strings.TrimPrefix(typed, "/")
	dir, base := ".", typed
	if i := strings.LastIndexByte(typed, '/'); i >= 0 {
		dir, base = typed[:i], typed[i+1:]
	}
	b = b.Here()
	_, err = b.Within(ctx, b.Fsys.View, func(g *Guard) (any, error) {
		at, err := g.Tx.Resolve(dir, Follow)
		if err != nil {
			return Text(""), nil
		}
		l, err := g.Tx.ReadDir(at)
		if err != nil {
			return Text(""), nil
		}
		paths, more = nil, false
		for _, e := range l {
			path := below(at, e.Name())
			switch {
			case !strings.HasPrefix(e.Name(), base) || !b.shows(path) && !(e.IsDir() && b.Policy.leadsTo(path)):
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
	list, err := cleanPaths([]string{path})
	return err == nil && b.shows(list[0])
}

func (b *Toolbox) shows(path string) bool {
	return b.Policy.MayUse(PermList, path) == nil && !b.Policy.Asks(PermList, path)
}

// Within returns the policy further narrowed to some paths: what it allows is allowed by p and below one of them. No
// paths leave nothing. A nil p is [AllowAll].
func (p *Policy) Within(paths []string) (*Policy, error) {
	if p == nil {
		p = AllowAll
	}
	c, err := p.check()
	if err != nil {
		return nil, err
	}
	bounds, err := cleanPaths(paths)
	if err != nil {
		return nil, err
	}
	allowed := c.Paths
	if len(allowed) == 0 {
		allowed = []string{"."}
	}
	c.Paths = nil
	for _, a := range allowed {
		for _, b := range bounds {
			switch {
			case Under(a, b):
				c.Paths = append(c.Paths, a)
			case Under(b, a):
				c.Paths = append(c.Paths, b)
			}
		}
	}
	if len(c.Paths) == 0 {
		c.Deny = append(c.Deny, ".")
	}
	return c, nil
}
