package tool

import (
	"context"
	"fmt"
	"maps"
	slashes "path"
	"slices"
	"strings"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/vfs"
)

// A Route lets another tree serve a path with all that is below it: another branch of the store, for files that
// several sessions share, or another store. Entries of the toolbox's own tree at that path are hidden. A file has the
// same path in the tree that serves it.
type Route struct {
	Path string // from the root, such as "/memories"
	FS   *vfs.FS
}

// routed makes the tools on the trees of the routes, those with the longest paths first. Each tree shows only the
// path that it serves, whatever symlinks are in it.
func (b *Toolbox) routed() error {
	if len(b.config.Routes) == 0 {
		return nil
	}
	if !b.profile.Routes {
		return fmt.Errorf("the profile %s has no routes: %w", b.profile.Name, syscall.EINVAL)
	}

	var paths []string
	for _, r := range b.config.Routes {
		paths = append(paths, r.Path)
	}
	paths, err := policy.Clean(paths)
	if err != nil {
		return fmt.Errorf("routes: %w", err)
	}

	for i, r := range b.config.Routes {
		if paths[i] == "." || r.FS == nil || slices.Contains(paths[:i], paths[i]) {
			return fmt.Errorf("route %q: it needs a path below the root that no other has, and a tree: %w", r.Path, syscall.EINVAL)
		}
	}

	whole := *b.policy
	for i, r := range b.config.Routes {
		box := *b
		box.at, box.serves, box.policy = NewPosition(r.FS, nil), paths[i], whole.Part(paths[i], paths)
		b.routes = append(b.routes, &box)
	}

	slices.SortStableFunc(b.routes, func(x, y *Toolbox) int { return len(y.serves) - len(x.serves) })
	for _, box := range b.routes {
		box.routes = b.routes
	}
	b.policy = whole.Part(".", paths)
	return nil
}

// serving returns the tools on the tree that serves a path as a model wrote it: a box for this call alone.
func (b *Toolbox) serving(name string) *Toolbox {
	at, ok := b.written(name)
	if !ok {
		return b
	}
	for _, box := range b.routes {
		if policy.Under(at, box.serves) {
			return box.here()
		}
	}
	return b
}

// servingBelow returns the tools on each tree that serves a path below a directory.
func (b *Toolbox) servingBelow(name string) (list []*Toolbox) {
	at, ok := b.written(name)
	for _, box := range b.routes {
		if ok && box.serves != at && policy.Under(box.serves, at) {
			list = append(list, box.here())
		}
	}
	return list
}

// written returns the path that a model wrote, or the working directory, as a path of the tree; false if it is none.
func (b *Toolbox) written(name string) (string, bool) {
	if name == "" {
		name = b.config.Dir + "/"
	}
	full, err := b.locate(name)
	if err != nil {
		return "", false
	}
	if at := slashes.Clean(full); at != "/" {
		return strings.TrimPrefix(at, "/"), true
	}
	return ".", true
}

// divided runs fn on each tree that serves some of the paths, and returns the results in the order of the paths.
func divided[One any](b *Toolbox, paths []string, fn func(box *Toolbox, which []int) ([]One, error)) ([]One, error) {
	boxes, which := map[string]*Toolbox{}, map[string][]int{} // by the paths of their routes
	for i, path := range paths {
		box := b.serving(path)
		boxes[box.serves] = box
		which[box.serves] = append(which[box.serves], i)
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

// Divide defines a tool over several paths, which are divided among the trees that serve them. Each tree has one
// transaction. run is given the indices of its paths, and returns a result for each; join has all of them, in the order
// of the paths.
func Divide[In, One, Out any](name, description string, k Kind, paths func(In) []string, run func(*Guard, In, []int) ([]One, error), join func([]One) Out, tweaks ...Tweak) *Tool {
	return define[In, Out](name, description, k, tweaks, func(ctx context.Context, b *Toolbox, in In) (*Result, error) {
		all, err := divided(b, paths(in), func(box *Toolbox, which []int) (part []One, err error) {
			_, err = box.within(ctx, transactionFor(box, name, []Kind{k}), func(g *Guard) (any, error) {
				part, err = run(g, in, which)
				return Text(""), err
			})
			return part, err
		})
		if err != nil {
			return nil, err
		}
		return present(join(all))
	})
}

// Search defines a tool that looks below a path, in each tree that serves a part of it, one after the other. A path
// that is missing in one tree may be in another.
func Search[In PathInput, Part any](name, description string, k Kind, look func(*Guard, In) (Part, error), join func(policy.Caps, In, []Part) Text, tweaks ...Tweak) *Tool {
	return define[In, Text](name, description, k, tweaks, func(ctx context.Context, b *Toolbox, in In) (*Result, error) {
		others := b.servingBelow(in.About())
		parts := make([]Part, 0, 1+len(others))
		for _, box := range append([]*Toolbox{b}, others...) {
			var part Part
			_, err := box.within(ctx, box.viewing(), func(g *Guard) (_ any, err error) {
				part, err = look(g, in)
				return Text(""), err
			})
			if err != nil && !(Missing(err) && (len(others) > 0 || b.isRoute(in.About()))) {
				return nil, err
			}
			parts = append(parts, part)
		}
		return present(join(b.caps, in, parts))
	})
}

// isRoute reports whether a path is that of the box's route. That path is a directory, even if the tree has nothing
// there yet.
func (b *Toolbox) isRoute(name string) bool {
	at, ok := b.written(name)
	return ok && b.serves != "" && at == b.serves
}

// RouteBelow returns the directory that a model asked for and the route that serves a part of it, with slashes in front, if
// the guard's tree is that of the route.
func (g *Guard) RouteBelow(name string) (dir, route string, below bool) {
	at, ok := g.box.written(name)
	if !ok || g.box.serves == "" || policy.Under(at, g.box.serves) {
		return "", "", false
	}
	return policy.Rooted(at), policy.Rooted(g.box.serves), true
}
