package tool

import (
	"cmp"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"vfsdb/agent/tool/texts"
	"vfsdb/search"
	"vfsdb/vfs"
)

// ErrEnough ends a walk that has found all it may give back.
var ErrEnough = errors.New("enough")

// Listing is what one listing found.
type Listing struct {
	Dir     string // resolved
	Nodes   []*Node
	Omitted int // entries beyond the cap
}

// pageSize is how many entries of a directory are read at a time.
const pageSize = 1000

// List reads a directory, sorted by name: up to limit entries; the rest is only counted. hidden shows names that begin
// with a dot.
func (g *Guard) List(name string, hidden bool, limit int) (*Listing, error) {
	at, err := g.Path(name, PermList, Follow)
	if err != nil {
		return nil, err
	}
	l := &Listing{Dir: at}
	for after := ""; ; {
		page, err := g.Tx.ReadDirPage(at, after, pageSize)
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			after = e.Name()
			if !hidden && strings.HasPrefix(e.Name(), ".") || !g.Box.Policy.visible(below(at, e.Name())) {
				continue
			}
			if len(l.Nodes) == limit {
				l.Omitted++
				continue
			}
			info, err := e.Info()
			if err != nil {
				return nil, err
			}
			l.Nodes = append(l.Nodes, &Node{Path: below(at, e.Name()), Info: info.(*vfs.Info)})
		}
		if len(page) < pageSize {
			return l, nil
		}
		if err := g.Ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// Walk visits what is below a directory in the order of a walk, each directory before what is in it. visit says whether
// to go into a directory; errEnough ends the walk. depth counts from 1.
func (g *Guard) Walk(name string, perm Permission, visit func(n *Node, depth int) (bool, error)) (string, error) {
	at, err := g.Names(name, perm)
	if err != nil {
		return "", err
	}
	err = g.WalkDir(at, 1, visit)
	if err == ErrEnough {
		err = nil
	}
	return at, err
}

func (g *Guard) WalkDir(dir string, depth int, visit func(*Node, int) (bool, error)) error {
	for after := ""; ; {
		page, err := g.Tx.ReadDirPage(dir, after, pageSize)
		if err != nil {
			return err
		}
		for _, e := range page {
			after = e.Name()
			at := below(dir, e.Name())
			if !g.Box.Policy.visible(at) {
				continue
			}
			if err := g.Ctx.Err(); err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			into, err := visit(&Node{Path: at, Info: info.(*vfs.Info)}, depth)
			if err != nil {
				return err
			}
			if into && e.IsDir() {
				if err := g.WalkDir(at, depth+1, visit); err != nil {
					return err
				}
			}
		}
		if len(page) < pageSize {
			return nil
		}
	}
}

// A Query says what to find by name.
type Query struct {
	Dir       string // "" is the working directory
	Pattern   string // in the dialect of search.Glob, matched on the path below dir
	MatchBase bool   // a pattern without a slash matches the last segment, at any depth
	Kind      string // "file", "directory", "symlink"; "" is any
	Hidden    bool   // names that begin with a dot too, and what is below them
	Limit     int
	Perm      Permission // that the search needs; "" is to list
	Enough    bool       // stop at the limit: whether there is more is told, but not how much
}

// FindResult is what a search found, sorted by path.
type FindResult struct {
	Dir     string // resolved
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
	if s.Enough && s.Hidden && g.Box.Policy.visible(at) && len(g.Box.Policy.Deny) == 0 { // all that is found counts
		o.Max = s.Limit + 1
	}
	all, _, err := search.Find(g.Ctx, g.Tx, at, o)
	if err != nil {
		return nil, err
	}
	f := &FindResult{Dir: at}
	for _, one := range all {
		if !g.Box.Policy.visible(one.Path) || !s.Hidden && hiddenBelow(at, one.Path) {
			continue
		}
		if len(f.Nodes) == s.Limit {
			f.Omitted++
			continue
		}
		f.Nodes = append(f.Nodes, &Node{Path: one.Path, Info: one.Info})
	}
	return f, nil
}

// start finds the directory that a search begins in. Without one, a pattern with a slash in front is of paths from the
// root: that is where it is matched, though of what is found there only what the policy shows counts.
func (g *Guard) start(s Query) (string, error) {
	perm := cmp.Or(s.Perm, PermList)
	switch {
	case s.Dir != "" || !strings.HasPrefix(s.Pattern, "/"):
		return g.Names(g.OrDir(s.Dir), perm)
	case len(g.Box.Policy.Paths) == 0:
		return g.Names("/", perm)
	}
	for _, allowed := range g.Box.Policy.Paths {
		if err := g.Box.Policy.MayUse(perm, allowed); err != nil {
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
	rel := Relative(dir, at)
	return strings.HasPrefix(rel, ".") && rel != "." || strings.Contains(rel, "/.")
}

// Grep searches contents. o.Path is what the model wrote; "" is the working directory.
func (g *Guard) Grep(pattern string, o search.GrepOptions) (*search.GrepResult, error) {
	at, err := g.Path(g.OrDir(o.Path), PermRead, Follow)
	if err != nil {
		return nil, err
	}
	o.Path, o.MaxText = at, maxGrepText
	if o.MaxFileSize == 0 {
		o.MaxFileSize = g.Box.Caps.GrepFile
	}
	if g.Box.BoundsGrep(o.MaxFileSize) {
		o.MaxFileSize = int64(g.Box.Policy.MaxFileSize)
	}
	for _, deny := range g.Box.Policy.Deny {
		if deny != at && Under(deny, at) {
			o.Exclude = append(o.Exclude, "/"+literal(Relative(at, deny)))
		}
	}
	r, err := search.Grep(g.Ctx, g.Tx, pattern, &o)
	if err != nil {
		return nil, err
	}
	g.skip("larger than the limit", r.SkippedLarge)
	g.skip("binary", r.SkippedBinary)
	return r, nil
}

// BoundsGrep reports whether the policy keeps a search from files that a bound of its own lets it look into; -1 is none.
func (b *Toolbox) BoundsGrep(own int64) bool {
	limit := int64(b.Policy.MaxFileSize)
	return limit > 0 && (own < 0 || own > limit)
}

// maxGrepText bounds what the matches of one search hold in memory: a line can be as long as a file, and has others
// around it.
const maxGrepText = 32 << 20

// Fit puts matches within the cap of bytes: a line that is longer than what is left of it is cut, and matches beyond
// are left out. It reports whether there are more matches than it returns.
func (g *Guard) Fit(r *search.GrepResult) (matches []search.GrepMatch, more bool) {
	room := g.Box.Caps.ResultBytes
	for _, m := range r.Matches {
		m.Path = Rooted(m.Path)
		if room -= len(m.Path); room <= 0 {
			return matches, true
		}
		m.Text, _ = texts.Cut(texts.Valid(m.Text), room)
		room -= len(m.Text)
		matches = append(matches, m)
	}
	return matches, r.Truncated
}

// Skipped are the paths of files that a search did not look into, as many as a result names.
func (g *Guard) Skipped(paths []string) []string {
	return RootedAll(paths[:min(len(paths), g.Box.Caps.Matches)])
}

// literal is the pattern that matches a path and nothing else.
func literal(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`, `}`, `\}`, `]`, `\]`).Replace(path)
}

// OrDir is what a model wrote, or the working directory.
func (g *Guard) OrDir(name string) string {
	switch {
	case name != "":
		return name
	case g.Box.Config.Dir != "":
		return g.Box.Config.Dir
	}
	return "/"
}

// Mkdir makes a directory, and with parents those above; then one that is there is fine. It reports whether it made it.
func (g *Guard) Mkdir(name string, parents bool) (at string, made bool, err error) {
	if at, err = g.Path(name, PermWrite, Follow); err != nil {
		return "", false, err
	}
	info, err := g.Tx.Lstat(at)
	switch {
	case err == nil && parents && info.IsDir():
		return at, false, nil
	case err == nil:
		return "", false, &fs.PathError{Op: "mkdir", Path: Rooted(at), Err: syscall.EEXIST}
	case !Missing(err):
		return "", false, err
	}
	above := g.hasParent
	if parents {
		above = g.Parents
	}
	if err := above(at); err != nil {
		return "", false, err
	}
	g.grown = true
	return at, true, g.Tx.Mkdir(at, 0o755)
}

// Remove takes a name away. A directory that is not empty needs recursive; force makes nothing of what is not there.
func (g *Guard) Remove(name string, recursive, force bool, pre Precondition) (at string, gone bool, err error) {
	opts, err := pre.options()
	if err != nil {
		return "", false, err
	}
	if at, err = g.tree(name, PermDelete, Keep); err != nil {
		return "", false, err
	}
	info, err := g.Tx.Lstat(at)
	if err != nil {
		if force && Missing(err) {
			return at, false, nil
		}
		return "", false, err
	}
	if at == "." {
		return "", false, &fs.PathError{Op: "remove", Path: "/", Err: syscall.EPERM}
	}
	if recursive && info.IsDir() {
		return at, true, g.Tx.RemoveAll(at, opts...)
	}
	return at, true, g.Tx.Remove(at, opts...)
}

// below is the path of a name in a directory.
func below(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// Relative is the path of at as seen from dir, which holds it.
func Relative(dir, at string) string {
	switch {
	case dir == ".":
		return at
	case at == dir:
		return "."
	}
	return at[len(dir)+1:]
}
