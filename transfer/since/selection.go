package since

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"syscall"

	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A Selection is what differs below a directory from an older tree. Paths in it are relative to the directory; "" is the
// directory itself. A nil *Selection is everything.
type Selection struct {
	// Removed are the paths that only the older tree has, sorted. Of what was below one of them it has none.
	Removed []string

	any   bool
	names map[string]map[string]bool // those to take from a directory
	whole map[string]bool            // directories that came from elsewhere, with all that is in them
}

// Select returns what is below the directory from of now and differs from base, a tree with the same root. Times alone are no
// difference. It costs as much as was changed between the two.
func Select(ctx context.Context, base snapshot.Tree, now *vfs.FS, from string) (*Selection, error) {
	top, err := now.Resolve(ctx, from, true)
	if err != nil {
		return nil, err
	}
	s := &Selection{names: make(map[string]map[string]bool), whole: make(map[string]bool)}
	lost := make(map[string]bool)
	for c, err := range snapshot.Diff(ctx, base, now) {
		if err != nil {
			return nil, err
		}
		switch c.Kind {
		case snapshot.Removed:
			lose(lost, top, c.Path)
			continue
		case snapshot.Renamed:
			lose(lost, top, c.From)
		}
		s.take(top, c)
	}

	g := &goner{base: base.Tree(), now: now, top: top, seen: make(map[string]bool)}
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		if err := g.look(ctx, name); err != nil {
			return nil, err
		}
	}
	s.Removed = slices.Sorted(slices.Values(g.removed))
	return s, nil
}

// Empty reports whether there is nothing to take, not even the directory itself.
func (s *Selection) Empty() bool { return s != nil && !s.any }

// Names returns the names to take from a directory, sorted. If all are to be taken, some is false.
func (s *Selection) Names(dir string) (names []string, some bool) {
	if s == nil || len(s.whole) > 0 && s.inWhole(dir) {
		return nil, false
	}
	return slices.Sorted(maps.Keys(s.names[dir])), true
}

// inWhole reports whether a directory, or one above it, is taken as a whole.
func (s *Selection) inWhole(dir string) bool {
	for !s.whole[dir] {
		if dir == "" {
			return false
		}
		dir, _ = split(dir)
	}
	return true
}

// take adds a path that is there now, and the directories that lead to it.
func (s *Selection) take(top string, c snapshot.Change) {
	moved := c.Kind == snapshot.Renamed && c.New.IsDir()
	name, ok := below(top, c.Path)
	if !ok {
		// All of the directory is elsewhere than it was.
		if _, above := below(c.Path, top); above && moved {
			s.any, s.whole[""] = true, true
		}
		return
	}

	s.any = true
	if moved {
		s.whole[name] = true
	}
	for name != "" {
		dir, base := split(name)
		if s.names[dir] == nil {
			s.names[dir] = make(map[string]bool)
		}
		s.names[dir][base] = true
		name = dir
	}
}

// lose notes a path of the older tree whose file is gone from there.
func lose(lost map[string]bool, top, path string) {
	if name, ok := below(top, path); ok {
		lost[name] = true
	} else if _, above := below(path, top); above {
		lost[""] = true
	}
}

// below returns a path as seen from a directory above it, or from itself. Both are paths from the root, which is ".".
func below(top, path string) (name string, ok bool) {
	switch {
	case path == top:
		return "", true
	case top == ".":
		return path, true
	}
	return strings.CutPrefix(path, top+"/")
}

// split divides a path before its last segment.
func split(name string) (dir, base string) {
	i := strings.LastIndexByte(name, '/')
	return name[:max(i, 0)], name[i+1:]
}

// join is the opposite of split, and also joins a path to the top, which may be ".".
func join(dir, base string) string {
	switch {
	case base == "":
		return dir
	case dir == "" || dir == ".":
		return base
	}
	return dir + "/" + base
}

// A goner finds the paths that only the older tree has. Where a file is gone, another one may be.
type goner struct {
	base, now *vfs.FS
	top       string
	seen      map[string]bool
	removed   []string
}

// look adds a path of the older tree to those that are removed, or what is below it if it is a directory in both.
func (g *goner) look(ctx context.Context, name string) error {
	for dir := name; ; dir, _ = split(dir) {
		if g.seen[dir] {
			return nil // with all below it
		}
		if dir == "" {
			break
		}
	}

	was, err := lstat(ctx, g.base, join(g.top, name))
	if was == nil || err != nil {
		return err
	}
	is, err := lstat(ctx, g.now, join(g.top, name))
	if err != nil {
		return err
	}
	if is == nil {
		g.seen[name] = true
		g.removed = append(g.removed, name)
		return nil
	}
	if !was.IsDir() || !is.IsDir() {
		return nil
	}

	list, err := g.base.ReadDir(ctx, join(g.top, name))
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := g.look(ctx, join(name, e.Name())); err != nil {
			return err
		}
	}
	g.seen[name] = true
	return nil
}

// lstat describes a path; nil if it is not there, or only through a symlink that is in the place of a directory.
func lstat(ctx context.Context, fsys *vfs.FS, path string) (*vfs.Info, error) {
	var info *vfs.Info
	err := fsys.View(ctx, func(tx *vfs.Tx) error {
		straight, err := tx.Resolve(path, false)
		if err != nil || straight != path {
			return err
		}
		info, err = tx.Lstat(path)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
		return nil, nil
	}
	return info, err
}
