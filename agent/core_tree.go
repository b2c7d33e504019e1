package agent

import (
	"cmp"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"vfsdb/vfs"
)

// errEnough ends a walk that has found all it may give back.
var errEnough = errors.New("enough")

// listed is what one listing found.
type listed struct {
	dir     string // resolved
	nodes   []*node
	omitted int // entries beyond the cap
}

// pageSize is how many entries of a directory are read at a time.
const pageSize = 1000

// list reads a directory, sorted by name: up to limit entries; the rest is only counted. hidden shows names that begin
// with a dot.
func (g *guard) list(name string, hidden bool, limit int) (*listed, error) {
	at, err := g.path(name, PermList, follow)
	if err != nil {
		return nil, err
	}
	l := &listed{dir: at}
	for after := ""; ; {
		page, err := g.tx.ReadDirPage(at, after, pageSize)
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			after = e.Name()
			if !hidden && strings.HasPrefix(e.Name(), ".") || !g.box.policy.visible(below(at, e.Name())) {
				continue
			}
			if len(l.nodes) == limit {
				l.omitted++
				continue
			}
			info, err := e.Info()
			if err != nil {
				return nil, err
			}
			l.nodes = append(l.nodes, &node{path: below(at, e.Name()), info: info.(*vfs.Info)})
		}
		if len(page) < pageSize {
			return l, nil
		}
		if err := g.ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// walk visits what is below a directory in the order of a walk, each directory before what is in it. visit says whether
// to go into a directory; errEnough ends the walk. depth counts from 1.
func (g *guard) walk(name string, perm Permission, visit func(n *node, depth int) (bool, error)) (string, error) {
	at, err := g.names(name, perm)
	if err != nil {
		return "", err
	}
	err = g.walkDir(at, 1, visit)
	if err == errEnough {
		err = nil
	}
	return at, err
}

func (g *guard) walkDir(dir string, depth int, visit func(*node, int) (bool, error)) error {
	for after := ""; ; {
		page, err := g.tx.ReadDirPage(dir, after, pageSize)
		if err != nil {
			return err
		}
		for _, e := range page {
			after = e.Name()
			at := below(dir, e.Name())
			if !g.box.policy.visible(at) {
				continue
			}
			if err := g.ctx.Err(); err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			into, err := visit(&node{path: at, info: info.(*vfs.Info)}, depth)
			if err != nil {
				return err
			}
			if into && e.IsDir() {
				if err := g.walkDir(at, depth+1, visit); err != nil {
					return err
				}
			}
		}
		if len(page) < pageSize {
			return nil
		}
	}
}

// A search says what to find by name.
type search struct {
	dir       string // "" is the working directory
	pattern   string // in the dialect of vfs.Glob, matched on the path below dir
	matchBase bool   // a pattern without a slash matches the last segment, at any depth
	kind      string // "file", "directory", "symlink"; "" is any
	hidden    bool   // names that begin with a dot too, and what is below them
	limit     int
	perm      Permission // that the search needs; "" is to list
	enough    bool       // stop at the limit: whether there is more is told, but not how much
}

// found is what a search found, sorted by path.
type found struct {
	dir     string // resolved
	nodes   []*node
	omitted int // matches beyond the limit
}

// find looks for names by a pattern.
func (g *guard) find(s search) (*found, error) {
	at, err := g.start(s)
	if err != nil {
		return nil, err
	}
	o := &vfs.FindOptions{Pattern: s.pattern, MatchBase: s.matchBase, Kind: s.kind}
	if s.enough && s.hidden && g.box.policy.visible(at) && len(g.box.policy.Deny) == 0 { // all that is found counts
		o.Max = s.limit + 1
	}
	all, _, err := vfs.Find(g.ctx, g.tx, at, o)
	if err != nil {
		return nil, err
	}
	f := &found{dir: at}
	for _, one := range all {
		if !g.box.policy.visible(one.Path) || !s.hidden && hiddenBelow(at, one.Path) {
			continue
		}
		if len(f.nodes) == s.limit {
			f.omitted++
			continue
		}
		f.nodes = append(f.nodes, &node{path: one.Path, info: one.Info})
	}
	return f, nil
}

// start finds the directory that a search begins in. Without one, a pattern with a slash in front is of paths from the
// root: that is where it is matched, though of what is found there only what the policy shows counts.
func (g *guard) start(s search) (string, error) {
	perm := cmp.Or(s.perm, PermList)
	switch {
	case s.dir != "" || !strings.HasPrefix(s.pattern, "/"):
		return g.names(g.orDir(s.dir), perm)
	case len(g.box.policy.Paths) == 0:
		return g.names("/", perm)
	}
	for _, allowed := range g.box.policy.Paths {
		if err := g.box.policy.mayUse(perm, allowed); err != nil {
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

// grep searches contents. o.Path is what the model wrote; "" is the working directory.
func (g *guard) grep(pattern string, o vfs.GrepOptions) (*vfs.GrepResult, error) {
	at, err := g.path(g.orDir(o.Path), PermRead, follow)
	if err != nil {
		return nil, err
	}
	o.Path, o.MaxText = at, maxGrepText
	if o.MaxFileSize == 0 {
		o.MaxFileSize = g.box.caps.GrepFile
	}
	if g.box.boundsGrep(o.MaxFileSize) {
		o.MaxFileSize = int64(g.box.policy.MaxFileSize)
	}
	for _, deny := range g.box.policy.Deny {
		if deny != at && under(deny, at) {
			o.Exclude = append(o.Exclude, "/"+literal(relative(at, deny)))
		}
	}
	r, err := vfs.Grep(g.ctx, g.tx, pattern, &o)
	if err != nil {
		return nil, err
	}
	g.skip("larger than the limit", r.SkippedLarge)
	g.skip("binary", r.SkippedBinary)
	return r, nil
}

// boundsGrep reports whether the policy keeps a search from files that a bound of its own lets it look into; -1 is none.
func (b *Toolbox) boundsGrep(own int64) bool {
	limit := int64(b.policy.MaxFileSize)
	return limit > 0 && (own < 0 || own > limit)
}

// maxGrepText bounds what the matches of one search hold in memory: a line can be as long as a file, and has others
// around it.
const maxGrepText = 32 << 20

// fit puts matches within the cap of bytes: a line that is longer than what is left of it is cut, and matches beyond
// are left out. It reports whether there are more matches than it returns.
func (g *guard) fit(r *vfs.GrepResult) (matches []vfs.GrepMatch, more bool) {
	room := g.box.caps.ResultBytes
	for _, m := range r.Matches {
		m.Path = rooted(m.Path)
		if room -= len(m.Path); room <= 0 {
			return matches, true
		}
		m.Text, _ = cut(valid(m.Text), room)
		room -= len(m.Text)
		matches = append(matches, m)
	}
	return matches, r.Truncated
}

// skipped are the paths of files that a search did not look into, as many as a result names.
func (g *guard) skipped(paths []string) []string {
	return rootedAll(paths[:min(len(paths), g.box.caps.Matches)])
}

// literal is the pattern that matches a path and nothing else.
func literal(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`, `}`, `\}`, `]`, `\]`).Replace(path)
}

// orDir is what a model wrote, or the working directory.
func (g *guard) orDir(name string) string {
	switch {
	case name != "":
		return name
	case g.box.config.Dir != "":
		return g.box.config.Dir
	}
	return "/"
}

// mkdir makes a directory, and with parents those above; then one that is there is fine. It reports whether it made it.
func (g *guard) mkdir(name string, parents bool) (at string, made bool, err error) {
	if at, err = g.path(name, PermWrite, follow); err != nil {
		return "", false, err
	}
	info, err := g.tx.Lstat(at)
	switch {
	case err == nil && parents && info.IsDir():
		return at, false, nil
	case err == nil:
		return "", false, &fs.PathError{Op: "mkdir", Path: rooted(at), Err: syscall.EEXIST}
	case !missing(err):
		return "", false, err
	}
	above := g.hasParent
	if parents {
		above = g.parents
	}
	if err := above(at); err != nil {
		return "", false, err
	}
	g.grown = true
	return at, true, g.tx.Mkdir(at, 0o755)
}

// remove takes a name away. A directory that is not empty needs recursive; force makes nothing of what is not there.
func (g *guard) remove(name string, recursive, force bool, pre precondition) (at string, gone bool, err error) {
	opts, err := pre.options()
	if err != nil {
		return "", false, err
	}
	if at, err = g.tree(name, PermDelete, keep); err != nil {
		return "", false, err
	}
	info, err := g.tx.Lstat(at)
	if err != nil {
		if force && missing(err) {
			return at, false, nil
		}
		return "", false, err
	}
	if at == "." {
		return "", false, &fs.PathError{Op: "remove", Path: "/", Err: syscall.EPERM}
	}
	if recursive && info.IsDir() {
		return at, true, g.tx.RemoveAll(at, opts...)
	}
	return at, true, g.tx.Remove(at, opts...)
}

// below is the path of a name in a directory.
func below(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// relative is the path of at as seen from dir, which holds it.
func relative(dir, at string) string {
	switch {
	case dir == ".":
		return at
	case at == dir:
		return "."
	}
	return at[len(dir)+1:]
}
