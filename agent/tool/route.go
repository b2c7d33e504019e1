package tool

import (
	"context"
	"fmt"
	"maps"
	slashes "path"
	"slices"
	"strings"
	"syscall"

	"vfsdb/vfs"
)

// A Route lets another tree serve a path with all that is below it: another branch of the store, for what several
// sessions share, or another store. What is there in the tree of the toolbox itself is not seen. A file has the same path
// in the tree that serves it.
type Route struct {
	Path string // from the root, such as "/memories"
	FS   *vfs.FS
}

// routed makes the tools on the trees of the routes, those with the longest paths first. Each tree shows what it serves
// and no more, whatever symlinks are in it.
func (b *Toolbox) routed() error {
	if len(b.Config.Routes) == 0 {
		return nil
	}
	if !b.Profile.Routes {
		return fmt.Errorf("the profile %s has no routes: %w", b.Profile.Name, syscall.EINVAL)
	}
	var paths []string
	for _, r := range b.Config.Routes {
		paths = append(paths, r.Path)
	}
	paths, err := cleanPaths(paths)
	if err != nil {
		return fmt.Errorf("routes: %w", err)
	}
	for i, r := range b.Config.Routes {
		if paths[i] == "." || r.FS == nil || slices.Contains(paths[:i], paths[i]) {
			return fmt.Errorf("route %q: it needs a path below the root that no other has, and a tree: %w", r.Path, syscall.EINVAL)
		}
	}
	whole := *b.Policy
	for i, r := range b.Config.Routes {
		box := *b
		box.at, box.Serves, box.Policy = NewPosition(r.FS, nil), paths[i], whole.within(paths[i], paths)
		b.routes = append(b.routes, &box)
	}
	slices.SortStableFunc(b.routes, func(x, y *Toolbox) int { return len(y.Serves) - len(x.Serves) })
	for _, box := range b.routes {
		box.routes = b.routes
	}
	b.Policy = whole.within(".", paths)
	return nil
}

// within is the policy for a tree that serves a path, but not the others below it.
func (p Policy) within(path string, others []string) *Policy {
	if path != "." {
		var paths []string
		for _, allowed := range p.Paths {
			if Under(allowed, path) {
				paths = append(paths, allowed)
			} else if Under(path, allowed) {
				paths = append(paths, path)
			}
		}
		if len(p.Paths) > 0 && len(paths) == 0 {
			p.Deny = append(slices.Clip(p.Deny), path)
		}
		if len(paths) == 0 {
			paths = []string{path}
		}
		p.Paths = paths
	}
	for _, other := range others {
		if other != path && Under(other, path) {
			p.Deny = append(slices.Clip(p.Deny), other)
		}
	}
	return &p
}

// serving returns the tools on the tree that serves what a model wrote: a box of the call's own.
func (b *Toolbox) serving(name string) *Toolbox {
	at, ok := b.written(name)
	if !ok {
		return b
	}
	for _, box := range b.routes {
		if Under(at, box.Serves) {
			return box.Here()
		}
	}
	return b
}

// servingBelow returns the tools on the trees that serve a part of what is below a directory.
func (b *Toolbox) servingBelow(name string) (list []*Toolbox) {
	at, ok := b.written(name)
	for _, box := range b.routes {
		if ok && box.Serves != at && Under(box.Serves, at) {
			list = append(list, box.Here())
		}
	}
	return list
}

// written is what a model wrote, or the working directory, as a path of the tree; false if it is none.
func (b *Toolbox) written(name string) (string, bool) {
	if name == "" {
		name = b.Config.Dir + "/"
	}
	full, err := b.Locate(name)
	if err != nil {
		return "", false
	}
	if at := slashes.Clean(full); at != "/" {
		return strings.TrimPrefix(at, "/"), true
	}
	return ".", true
}

// Divide runs fn on each tree that serves some of the paths, and returns what it gives for each path, in their order.
func Divide[One any](b *Toolbox, paths []string, fn func(box *Toolbox, which []int) ([]One, error)) ([]One, error) {
	boxes, which := map[string]*Toolbox{}, map[string][]int{} // by the paths of their routes
	for i, path := range paths {
		box := b.serving(path)
		boxes[box.Serves] = box
		which[box.Serves] = append(which[box.Serves], i)
	}
	all := make([]One, len(paths))
	for _, route := range slices.Sorted(maps.Keys(boxes)) {
		part, err := fn(boxes[route], which[route])
		if err != nil {
			return nil, err
		}
		for k, i := range which[route] {
			all[i] = part[k]
		}
	}
	return all, nil
}

// Search defines a tool that looks below a path, in each tree that serves a part of it, one after the other. What is
// not there in one of them may be in another.
func Search[In Pathed, Part any](name, description string, k Kind, look func(*Guard, In) (Part, error), join func(*Toolbox, In, []Part) Text, tweaks ...Tweak) *Tool {
	return Define[In, Text](name, description, k, tweaks, func(ctx context.Context, b *Toolbox, in In) (*Result, error) {
		others := b.servingBelow(in.About())
		parts := make([]Part, 0, 1+len(others))
		for _, box := range append([]*Toolbox{b}, others...) {
			var part Part
			_, err := box.Within(ctx, box.Viewing(), func(g *Guard) (_ any, err error) {
				part, err = look(g, in)
				return Text(""), err
			})
			if err != nil && !(Missing(err) && (len(others) > 0 || b.isRoute(in.About()))) {
				return nil, err
			}
			parts = append(parts, part)
		}
		return Present(join(b, in, parts))
	})
}

// isRoute reports whether a path is that of the route which the box is for: it is a directory, even if the tree has
// nothing there yet.
func (b *Toolbox) isRoute(name string) bool {
	at, ok := b.written(name)
	return ok && b.Serves != "" && at == b.Serves
}

// RouteBelow returns the directory that a model asked for, if the guard's tree serves only a part of what is below it.
func (g *Guard) RouteBelow(name string) (dir string, below bool) {
	at, ok := g.Box.written(name)
	return at, ok && g.Box.Serves != "" && !Under(at, g.Box.Serves)
}
