package tool

import (
	"cmp"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool/texts"
	"vfsdb/search"
	"vfsdb/vfs"
)

// ErrEnough ends a walk that has found all that it may return.
var ErrEnough = errors.New("enough")

// A Visit is called for each node that a walk finds, with its path below the directory that the walk began in. It
// returns whether to go into a directory; [ErrEnough] ends the walk.
type Visit func(n *Node, rel string) (into bool, err error)

// Walk visits all that is below a directory, sorted by name, each directory before its entries. It returns the
// directory, resolved.
func (g *Guard) Walk(name string, perm policy.Permission, visit Visit) (string, error) {
	at, err := g.names(name, perm)
	if err != nil {
		return "", err
	}
	err = g.walkDir(at, func(n *Node) (bool, error) { return visit(n, relative(at, n.path)) })
	if err == ErrEnough {
		err = nil
	}
	return policy.Rooted(at), err
}

func (g *Guard) walkDir(dir string, visit func(*Node) (bool, error)) error {
	for e, err := range g.entries(dir, "") {
		if err == nil {
			err = g.ctx.Err()
		}
		if err != nil {
			return err
		}

		at := below(dir, e.Name())
		if !g.box.policy.Visible(at) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		into, err := visit(&Node{path: at, info: info.(*vfs.Info)})
		if err != nil {
			return err
		}

		if into && e.IsDir() {
			if err := g.walkDir(at, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// A Query is a search for names.
type Query struct {
	Dir       string // "" is the working directory
	Pattern   string // in the dialect of search.Glob, matched on the path below dir
	MatchBase bool   // a pattern without a slash matches the last segment, at any depth
	Kind      string // "file", "directory", "symlink"; "" is any
	Hidden    bool   // names that begin with a dot too, and what is below them
	Limit     int
	Perm      policy.Permission // that the search needs; "" is to list
	Enough    bool              // stop at the limit: the result shows whether there is more, but not how much
}

// A FindResult is the result of a search for names, sorted by path.
type FindResult struct {
	Dir     string // resolved, with a slash in front
	Nodes   []*Node
	Omitted int // matches beyond the limit
}

// Find looks for names by a pattern.
func (g *Guard) Find(s Query) (*FindResult, error) {
	at, err := g.start(s)
	if err != nil {
		return nil, err
	}
	o := &search.FindOptions{Pattern: s.Pattern, MatchBase: s.MatchBase, Kind: s.Kind}
	if s.Enough && s.Hidden && g.box.policy.Visible(at) && len(g.box.policy.Deny) == 0 { // nothing that is found is hidden
		o.Max = s.Limit + 1
	}

	all, _, err := search.Find(g.ctx, g.tx, at, o)
	if err != nil {
		return nil, err
	}
	f := &FindResult{Dir: policy.Rooted(at)}
	for _, one := range all {
		if !g.box.policy.Visible(one.Path) || !s.Hidden && hiddenBelow(at, one.Path) {
			continue
		}
		if len(f.Nodes) == s.Limit {
			f.Omitted++
			continue
		}
		f.Nodes = append(f.Nodes, &Node{path: one.Path, info: one.Info})
	}

	return f, nil
}

// start finds the directory that a search begins in. Without one, a pattern with a slash in front is matched on paths
// from the root. Only paths that the policy shows count.
func (g *Guard) start(s Query) (string, error) {
	perm := cmp.Or(s.Perm, policy.List)
	switch {
	case s.Dir != "" || !strings.HasPrefix(s.Pattern, "/"):
		return g.names(g.OrDir(s.Dir), perm)
	case len(g.box.policy.Paths) == 0:
		return g.names("/", perm)
	}
	for _, allowed := range g.box.policy.Paths {
		if err := g.box.policy.MayUse(perm, allowed); err != nil {
			return "", err
		}
		if err := g.approvedTree(perm, allowed); err != nil {
			return "", err
		}
	}
	return ".", nil
}

// hiddenBelow reports whether a name on the way from dir to at begins with a dot.
func hiddenBelow(dir, at string) bool {
	rel := relative(dir, at)
	return strings.HasPrefix(rel, ".") && rel != "." || strings.Contains(rel, "/.")
}

// A GrepResult is the result of a search of contents. Its paths are those of the tree, without a slash in front.
type GrepResult struct {
	*search.GrepResult
	guard *Guard
	dir   string // that was searched, which the policy was asked about
}

// Grep searches contents. o.Path is the path as the model wrote it; "" is the working directory.
func (g *Guard) Grep(pattern string, o search.GrepOptions) (*GrepResult, error) {
	at, err := g.path(g.OrDir(o.Path), policy.Read, Follow)
	if err != nil {
		return nil, err
	}
	o.Path, o.MaxText = at, maxGrepText
	o.MaxFileSize, _ = g.GrepBound(o.MaxFileSize)
	for _, deny := range g.box.policy.Deny {
		if deny != at && policy.Under(deny, at) {
			o.Exclude = append(o.Exclude, "/"+literal(relative(at, deny)))
		}
	}
	r, err := search.Grep(g.ctx, g.tx, pattern, &o)
	if err != nil {
		return nil, err
	}
	g.skip("larger than the limit", r.SkippedLarge)
	g.skip("binary", r.SkippedBinary)
	return &GrepResult{r, g, at}, nil
}

// Node describes a file with matches.
func (r *GrepResult) Node(path string) (*Node, error) {
	if err := r.searched(path); err != nil {
		return nil, err
	}
	info, err := r.guard.tx.Lstat(path)
	return &Node{path: path, info: info, perm: policy.Read}, err
}

// FileSum returns the sum of a file with matches.
func (r *GrepResult) FileSum(path string) (vfs.Sum, error) {
	if err := r.searched(path); err != nil {
		return vfs.Sum{}, err
	}
	return r.guard.tx.Sum(path)
}

// searched refuses a path that the search was not about.
func (r *GrepResult) searched(path string) error {
	if !policy.Under(path, r.dir) {
		return syscall.EACCES
	}
	return r.guard.box.policy.MayUse(policy.Read, path)
}

// GrepBound returns the size of the largest file that a search looks into, given a bound of its own; 0 is the bound
// of the caps. refused reports whether the policy set the bound.
func (g *Guard) GrepBound(own int64) (bound int64, refused bool) {
	own = cmp.Or(own, g.caps.GrepFile)
	if g.box.boundsGrep(own) {
		return int64(g.box.policy.MaxFileSize), true
	}
	return own, false
}

// boundsGrep reports whether the policy's bound is lower than a search's own; -1 is none.
func (b *Toolbox) boundsGrep(own int64) bool {
	limit := int64(b.policy.MaxFileSize)
	return limit > 0 && (own < 0 || own > limit)
}

// maxGrepText bounds the memory of the matches of one search: a line can be as long as a file, and comes with the
// lines around it.
const maxGrepText = 32 << 20

// Fit returns as many matches as the cap of bytes allows. The line that reaches the cap is cut, and later matches are
// left out. more reports whether there are more matches than it returns.
func (g *Guard) Fit(r *GrepResult) (matches []search.GrepMatch, more bool) {
	room := g.caps.ResultBytes
	for _, m := range r.Matches {
		m.Path = policy.Rooted(m.Path)
		if room -= len(m.Path); room <= 0 {
			return matches, true
		}
		m.Text, _ = texts.Cut(texts.Valid(m.Text), room)
		room -= len(m.Text)
		matches = append(matches, m)
	}
	return matches, r.Truncated
}

// Skipped returns the paths of files that a search did not look into, as many as a result names.
func (g *Guard) Skipped(paths []string) []string {
	return RootedAll(paths[:min(len(paths), g.caps.Matches)])
}

// literal returns the pattern that matches a path and nothing else.
func literal(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`, `}`, `\}`, `]`, `\]`).Replace(path)
}

// OrDir returns name, or the working directory if name is empty.
func (g *Guard) OrDir(name string) string {
	switch {
	case name != "":
		return name
	case g.box.config.Dir != "":
		return g.box.config.Dir
	}
	return "/"
}

// Mkdir makes a directory. With parents it makes those above too, and a directory that exists is no error. made
// reports whether it made the directory.
func (g *Guard) Mkdir(name string, parents bool) (dir *Node, made bool, err error) {
	at, err := g.path(name, policy.Write, Follow)
	if err != nil {
		return nil, false, err
	}

	dir = &Node{path: at, perm: policy.Write}
	info, err := g.tx.Lstat(at)
	switch {
	case err == nil && parents && info.IsDir():
		return dir, false, nil
	case err == nil:
		return nil, false, &fs.PathError{Op: "mkdir", Path: policy.Rooted(at), Err: syscall.EEXIST}
	case !Missing(err):
		return nil, false, err
	}

	above := g.hasParent
	if parents {
		above = g.parents
	}
	if err := above(at); err != nil {
		return nil, false, err
	}
	g.grown = true
	return dir, true, g.tx.Mkdir(at, 0o755)
}

// Remove removes a name. A directory that is not empty needs recursive. With force, a missing name is no error.
func (g *Guard) Remove(name string, recursive, force bool, pre Precondition) (path string, gone bool, err error) {
	opts, err := pre.options()
	if err != nil {
		return "", false, err
	}
	at, err := g.tree(name, policy.Delete, Keep)
	if err != nil {
		return "", false, err
	}

	info, err := g.tx.Lstat(at)
	if err != nil {
		if force && Missing(err) {
			return policy.Rooted(at), false, nil
		}
		return "", false, err
	}

	if at == "." {
		return "", false, &fs.PathError{Op: "remove", Path: "/", Err: syscall.EPERM}
	}
	if recursive && info.IsDir() {
		return policy.Rooted(at), true, g.tx.RemoveAll(at, opts...)
	}

	return policy.Rooted(at), true, g.tx.Remove(at, opts...)
}

// below returns the path of a name in a directory.
func below(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// Relative returns the path of at as seen from dir, which holds it; both have a slash in front.
func Relative(dir, at string) string { return relative(policy.Unrooted(dir), policy.Unrooted(at)) }

// relative does what Relative does, for paths of the tree.
func relative(dir, at string) string {
	switch {
	case dir == ".":
		return at
	case at == dir:
		return "."
	}
	return at[len(dir)+1:]
}
