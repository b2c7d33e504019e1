package agent

import (
	slashes "path"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"vfsdb/vfs"
)

// dofsDir finds a directory: ENOENT if nothing is there or the path goes through a file, ENOTDIR if it is one.
func dofsDir(g *guard, name string) (*node, error) {
	n, err := g.stat(name, follow)
	switch {
	case err != nil:
		return nil, underFile(err)
	case !n.info.IsDir():
		return nil, syscall.ENOTDIR
	}
	return n, nil
}

// followed is an entry as its reader sees it: symlinks are not visible here, so each is what it leads to. One that
// leads nowhere, or where nobody may look, is neither file nor directory.
func followed(g *guard, n *node) (isFile, isDir bool, err error) {
	if n.info.Target() != "" {
		to, err := g.stat(rooted(n.path), follow)
		if err != nil {
			if stops(err) {
				return false, false, err
			}
			return false, false, nil
		}
		n = to
	}
	return n.info.Mode().IsRegular(), n.info.IsDir(), nil
}

// asAsked is a path at or below a directory as the caller, who knows the directory by another name, would write it.
func asAsked(name, dir, at string) string {
	if slices.Contains(strings.Split(name, "/"), "..") {
		return rooted(at) // where that leads is not to be seen from the name
	}
	return slashes.Join(name, relative(dir, at))
}

type dofsReaddirIn struct {
	Path string `json:"path" jsonschema:"absolute path of the directory"`
	pageIn
}

func (in dofsReaddirIn) about() string { return in.Path }

type dofsDirent struct {
	Name        string `json:"name"`
	ParentPath  string `json:"parentPath"`
	IsFile      bool   `json:"isFile"`
	IsDirectory bool   `json:"isDirectory"`
}

type dofsReaddirOut struct {
	Entries    []dofsDirent `json:"entries" jsonschema:"sorted by name"`
	NextOffset int          `json:"nextOffset,omitempty" jsonschema:"offset of the next page; there is none if it is missing"`
}

func (o dofsReaddirOut) text() string { return paged(o.Entries, o.NextOffset) }

func dofsReaddir(g *guard, in dofsReaddirIn) (o dofsReaddirOut, err error) {
	if _, err := dofsDir(g, in.Path); err != nil {
		return o, err
	}
	l, err := g.list(in.Path, true, in.end())
	if err != nil {
		return o, err
	}
	nodes, next := page(in.pageIn, l.nodes, l.omitted > 0)
	o.Entries, o.NextOffset = []dofsDirent{}, next
	for _, n := range nodes {
		e := dofsDirent{Name: n.name(), ParentPath: asAsked(in.Path, l.dir, l.dir)}
		if e.IsFile, e.IsDirectory, err = followed(g, n); err != nil {
			return o, err
		}
		o.Entries = append(o.Entries, e)
	}
	return o, nil
}

type dofsLsIn struct {
	Prefix string `json:"prefix" jsonschema:"absolute path; whole segments count, and no character is special"`
	pageIn
}

func (in dofsLsIn) about() string { return in.Prefix }

type dofsLsOut struct {
	Paths      []string `json:"paths" jsonschema:"of files, sorted"`
	NextOffset int      `json:"nextOffset,omitempty" jsonschema:"offset of the next page; there is none if it is missing"`
}

func (o dofsLsOut) text() string { return paged(o.Paths, o.NextOffset) }

// dofsLs lists regular files alone: a symlink is no file of its own.
func dofsLs(g *guard, in dofsLsIn) (dofsLsOut, error) {
	at, err := g.stat(in.Prefix, follow)
	if err = underFile(err); missing(err) {
		return dofsLsOut{Paths: []string{}}, nil
	}
	if err != nil {
		return dofsLsOut{}, err
	}
	var all []string
	if at.info.Mode().IsRegular() {
		all = []string{asAsked(in.Prefix, at.path, at.path)}
	}
	if at.info.IsDir() {
		f, err := g.find(search{dir: in.Prefix, kind: "file", hidden: true, limit: noBound})
		if err != nil {
			return dofsLsOut{}, err
		}
		for _, n := range f.nodes {
			all = append(all, asAsked(in.Prefix, f.dir, n.path))
		}
		slices.Sort(all)
	}
	paths, next := page(in.pageIn, all, false)
	return dofsLsOut{paths, next}, nil
}

type dofsFindIn struct {
	Directory string `json:"directory" jsonschema:"absolute path of the directory to look in"`
	Pattern   string `json:"pattern,omitempty" jsonschema:"such as *.ts or **/*.md; everything if left out"`
	pageIn
}

func (in dofsFindIn) about() string { return in.Directory }

type dofsFound struct {
	Path string `json:"path"`
	Type string `json:"type" enum:"file,dir"`
}

type dofsFindOut struct {
	Matches    []dofsFound `json:"matches" jsonschema:"each directory before what is in it"`
	NextOffset int         `json:"nextOffset,omitempty" jsonschema:"offset of the next page; there is none if it is missing"`
}

func (o dofsFindOut) text() string { return paged(o.Matches, o.NextOffset) }

func dofsFind(g *guard, in dofsFindIn) (o dofsFindOut, err error) {
	dir, err := dofsDir(g, in.Directory)
	if err != nil {
		return o, err
	}
	matches, err := dofsGlob(in.Pattern)
	if err != nil {
		return o, err
	}
	var found []*node
	_, err = g.walk(in.Directory, PermList, func(n *node, _ int) (bool, error) {
		if plain := n.info.IsDir() || n.info.Mode().IsRegular(); plain && matches(relative(dir.path, n.path)) {
			found = append(found, n)
		}
		if len(found) > in.end() {
			return false, errEnough
		}
		return true, nil
	})
	if err != nil {
		return o, err
	}
	nodes, next := page(in.pageIn, found, false)
	o.Matches, o.NextOffset = []dofsFound{}, next
	for _, n := range nodes {
		one := dofsFound{asAsked(in.Directory, dir.path, n.path), "file"}
		if n.info.IsDir() {
			one.Type = "dir"
		}
		o.Matches = append(o.Matches, one)
	}
	return o, nil
}

// dofsGlob is the matcher of a pattern in the dialect of dofs: `*` is any run of characters within a name, `**`
// any run, and `**/` any number of whole names, none included. Every other character is itself.
func dofsGlob(pattern string) (func(string) bool, error) {
	switch {
	case pattern == "":
		return func(string) bool { return true }, nil
	case len(pattern) > maxGlob:
		return nil, refuse(syscall.EINVAL, "the pattern is longer than %d bytes", maxGlob)
	}
	var b strings.Builder
	for rest := pattern; rest != ""; {
		var ok bool
		if rest, ok = strings.CutPrefix(rest, "**/"); ok {
			b.WriteString("(?:.*/)?")
		} else if rest, ok = strings.CutPrefix(rest, "**"); ok {
			b.WriteString(".*")
		} else if rest, ok = strings.CutPrefix(rest, "*"); ok {
			b.WriteString("[^/]*")
		} else {
			end := strings.IndexByte(rest, '*')
			if end < 0 {
				end = len(rest)
			}
			b.WriteString(regexp.QuoteMeta(rest[:end]))
			rest = rest[end:]
		}
	}
	matcher, err := regexp.Compile(`(?s)\A` + b.String() + `\z`)
	if err != nil {
		return nil, refuse(syscall.EINVAL, "the pattern is no pattern: %v", err)
	}
	return matcher.MatchString, nil
}

// maxGlob is the longest pattern, in bytes: as long as a path can be.
const maxGlob = 4096

type dofsGrepIn struct {
	Pattern    string `json:"pattern" jsonschema:"the text to find, taken literally"`
	Path       string `json:"path" jsonschema:"absolute path of a directory or a file"`
	IgnoreCase bool   `json:"ignoreCase,omitempty" default:"false" jsonschema:"upper and lower case are the same"`
	pageIn
}

func (in dofsGrepIn) about() string { return in.Path }

type dofsMatch struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

type dofsGrepOut struct {
	Matches    []dofsMatch `json:"matches"`
	NextOffset int         `json:"nextOffset,omitempty" jsonschema:"offset of the next page; there is none if it is missing"`
	Skipped    []string    `json:"skippedPaths,omitempty" jsonschema:"files that are no text, or too large, and were not searched"`
}

func (o dofsGrepOut) text() string {
	text := paged(o.Matches, o.NextOffset)
	if n := len(o.Skipped); n > 0 {
		text += "\n[" + counted(n, "file that is no text, or too large, was", "files that are no text, or too large, were") + " not searched]"
	}
	return text
}

func dofsGrep(g *guard, in dofsGrepIn) (dofsGrepOut, error) {
	at, err := g.statFor(PermRead, in.Path, follow)
	if err != nil {
		return dofsGrepOut{}, underFile(err)
	}
	r, err := g.grep(in.Pattern, vfs.GrepOptions{Path: in.Path, IgnoreCase: in.IgnoreCase, Max: in.end()})
	if err != nil {
		return dofsGrepOut{}, underFile(err)
	}
	more := r.Truncated
	r.Matches, _ = page(in.pageIn, r.Matches, false)
	matches, cut := g.fit(r)
	o := dofsGrepOut{Matches: []dofsMatch{}}
	for _, m := range matches {
		o.Matches = append(o.Matches, dofsMatch{asAsked(in.Path, at.path, m.Path[1:]), m.Line, m.Text})
	}
	skipped := append(r.SkippedLarge, r.SkippedBinary...)
	for _, path := range skipped[:min(len(skipped), g.box.caps.Matches)] {
		o.Skipped = append(o.Skipped, asAsked(in.Path, at.path, path))
	}
	if more || cut {
		o.NextOffset = in.Offset + len(matches)
	}
	return o, nil
}
