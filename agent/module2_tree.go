package agent

import (
	"encoding/json"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"time"

	"vfsdb/vfs"
)

// module2Kind is the word for a type of file.
func module2Kind(mode fs.FileMode) string {
	if mode.IsDir() {
		return "dir"
	}
	return kindOf(mode)
}

type module2LsIn struct {
	Path          string `json:"path,omitempty" default:"\".\"" jsonschema:"directory to list"`
	Recursive     bool   `json:"recursive,omitempty" default:"false" jsonschema:"list what is below it too"`
	Pattern       string `json:"pattern,omitempty" jsonschema:"only what matches this glob, such as *.py"`
	IncludeHidden bool   `json:"include_hidden,omitempty" default:"false" jsonschema:"names that begin with a dot too"`
}

type module2Entry struct {
	Name      string `json:"name"`
	Path      string `json:"path"`
	Type      string `json:"type" enum:"file,dir,symlink,other"`
	SizeBytes *int64 `json:"size_bytes,omitempty" jsonschema:"of a file"`
}

type module2LsOut struct {
	Path           string         `json:"path"`
	Entries        []module2Entry `json:"entries"`
	Count          int            `json:"count"`
	Truncated      bool           `json:"truncated,omitempty" jsonschema:"there is more: list a part of it, or give a pattern"`
	OmittedEntries int            `json:"omitted_entries,omitempty"`
}

func module2Ls(g *guard, in module2LsIn) (module2LsOut, error) {
	nodes, dir, omitted, err := module2List(g, in)
	if err != nil {
		return module2LsOut{}, err
	}
	o := module2LsOut{Path: rooted(dir), Entries: []module2Entry{}, Count: len(nodes), Truncated: omitted > 0, OmittedEntries: omitted}
	for _, n := range nodes {
		e := module2Entry{Name: n.name(), Path: rooted(n.path), Type: module2Kind(n.info.Mode())}
		if n.info.Mode().IsRegular() {
			size := n.info.Size()
			e.SizeBytes = &size
		}
		o.Entries = append(o.Entries, e)
	}
	return o, nil
}

func module2List(g *guard, in module2LsIn) (nodes []*node, dir string, omitted int, err error) {
	if !in.Recursive && in.Pattern == "" {
		l, err := g.list(in.Path, in.IncludeHidden, g.box.caps.Entries)
		if err != nil {
			return nil, "", 0, err
		}
		return l.nodes, l.dir, l.omitted, nil
	}
	f, err := g.find(search{
		dir: in.Path, pattern: in.Pattern, matchBase: in.Recursive, hidden: in.IncludeHidden, limit: g.box.caps.Entries,
	})
	if err != nil {
		return nil, "", 0, err
	}
	return f.nodes, f.dir, f.omitted, nil
}

type module2GrepIn struct {
	Pattern       string `json:"pattern" jsonschema:"regular expression (RE2)"`
	Path          string `json:"path,omitempty" default:"\".\"" jsonschema:"file or directory to search"`
	Include       string `json:"include,omitempty" jsonschema:"only files that match this glob, such as *.py"`
	Recursive     bool   `json:"recursive,omitempty" default:"true" jsonschema:"search subdirectories"`
	MaxResults    int    `json:"max_results,omitempty" default:"100" min:"1" jsonschema:"how many matches are enough"`
	CaseSensitive bool   `json:"case_sensitive,omitempty" default:"true" jsonschema:"upper and lower case differ"`
}

type module2Match struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

type module2GrepOut struct {
	Matches       []module2Match `json:"matches"`
	Count         int            `json:"count"`
	Truncated     bool           `json:"truncated,omitempty" jsonschema:"there are more matches"`
	SkippedLarge  []string       `json:"skipped_large,omitempty" jsonschema:"files above max_file_size, not searched"`
	SkippedBinary []string       `json:"skipped_binary,omitempty" jsonschema:"files that are no text, not searched"`
}

func module2Grep(g *guard, in module2GrepIn) (module2GrepOut, error) {
	o := vfs.GrepOptions{Regex: true, IgnoreCase: !in.CaseSensitive, Path: in.Path, Max: min(in.MaxResults, g.box.caps.Matches)}
	if in.Include != "" {
		o.Include = []string{in.Include}
	}
	if !in.Recursive {
		o.Exclude = []string{"*/"} // directories
	}
	r, err := g.grep(in.Pattern, o)
	if err != nil {
		return module2GrepOut{}, err
	}
	matches, more := g.fit(r)
	out := module2GrepOut{
		Matches: []module2Match{}, Count: len(matches), Truncated: more,
		SkippedLarge: g.skipped(r.SkippedLarge), SkippedBinary: g.skipped(r.SkippedBinary),
	}
	for _, m := range matches {
		out.Matches = append(out.Matches, module2Match{m.Path, m.Line, m.Text})
	}
	return out, nil
}

type module2FindIn struct {
	Pattern    string `json:"pattern" jsonschema:"glob, such as *.py or src/**/*.py"`
	Path       string `json:"path,omitempty" default:"\".\"" jsonschema:"directory to search"`
	Type       string `json:"type,omitempty" enum:"file,dir" jsonschema:"only these; both if left out"`
	MaxResults int    `json:"max_results,omitempty" default:"100" min:"1" jsonschema:"how many are enough"`
}

type module2Found struct {
	Path string `json:"path"`
	Type string `json:"type" enum:"file,dir,symlink,other"`
}

type module2FindOut struct {
	Matches   []module2Found `json:"matches" jsonschema:"sorted by path"`
	Count     int            `json:"count"`
	Truncated bool           `json:"truncated,omitempty" jsonschema:"there are more"`
}

func module2Find(g *guard, in module2FindIn) (module2FindOut, error) {
	kind := in.Type
	if kind == "dir" {
		kind = "directory"
	}
	f, err := g.find(search{
		dir: in.Path, pattern: in.Pattern, matchBase: true, kind: kind, hidden: true, perm: PermRead, enough: true,
		limit: min(in.MaxResults, g.box.caps.Matches),
	})
	if err != nil {
		return module2FindOut{}, err
	}
	o := module2FindOut{Matches: []module2Found{}, Count: len(f.nodes), Truncated: f.omitted > 0}
	for _, n := range f.nodes {
		o.Matches = append(o.Matches, module2Found{rooted(n.path), module2Kind(n.info.Mode())})
	}
	return o, nil
}

type module2MoveIn struct {
	Source      string `json:"source" jsonschema:"source path"`
	Destination string `json:"destination" jsonschema:"destination path"`
	Overwrite   bool   `json:"overwrite,omitempty" default:"false" jsonschema:"overwrite if it exists; files that only the destination has stay"`
}

type module2MoveOut struct {
	Source      string `json:"source"`
	Destination string `json:"destination"`
}

func module2Mv(g *guard, in module2MoveIn) (module2MoveOut, error) {
	from, to, err := g.move(in.Source, in.Destination, in.Overwrite, precondition{})
	return module2MoveOut{rooted(from), rooted(to)}, err
}

func module2Cp(g *guard, in module2MoveIn) (module2MoveOut, error) {
	from, to, err := g.copy(in.Source, in.Destination, in.Overwrite, precondition{})
	return module2MoveOut{rooted(from), rooted(to)}, err
}

type module2RmIn struct {
	Path      string `json:"path" jsonschema:"path to delete"`
	Recursive bool   `json:"recursive,omitempty" default:"false" jsonschema:"required for directories"`
}

type module2RmOut struct {
	Path    string `json:"path"`
	Deleted bool   `json:"deleted"`
}

// module2Rm removes a directory only with recursive, even an empty one.
func module2Rm(g *guard, in module2RmIn) (module2RmOut, error) {
	if n, err := g.statFor(PermDelete, in.Path, keep); err == nil && n.info.IsDir() && !in.Recursive {
		return module2RmOut{}, refuse(syscall.EISDIR, "'%s' is a directory. Set recursive to delete it with all that is in it", rooted(n.path))
	}
	at, gone, err := g.remove(in.Path, in.Recursive, false, precondition{})
	return module2RmOut{rooted(at), gone}, err
}

type module2PathIn struct {
	Path string `json:"path" jsonschema:"the path"`
}

type module2MkdirOut struct {
	Path    string `json:"path"`
	Created bool   `json:"created" jsonschema:"it was not there before"`
}

func module2Mkdir(g *guard, in module2PathIn) (module2MkdirOut, error) {
	at, made, err := g.mkdir(in.Path, true)
	return module2MkdirOut{rooted(at), made}, err
}

type module2StatOut struct {
	Path        string  `json:"path"`
	Name        string  `json:"name"`
	Type        string  `json:"type" enum:"file,dir,symlink,other"`
	SizeBytes   int64   `json:"size_bytes"`
	Modified    seconds `json:"modified" jsonschema:"seconds since 1970"`
	Created     seconds `json:"created" jsonschema:"seconds since 1970"`
	Permissions string  `json:"permissions"`
	IsSymlink   bool    `json:"is_symlink" jsonschema:"the rest describes what it leads to, unless that is missing"`
}

// module2Stat describes what a symlink leads to, and says that it is one. A symlink that leads nowhere is described
// itself.
func module2Stat(g *guard, in module2PathIn) (module2StatOut, error) {
	n, err := g.statFor(PermRead, in.Path, keep)
	if err != nil {
		return module2StatOut{}, err
	}
	of, link := n, n.info.Target() != ""
	if link {
		if of, err = g.statFor(PermRead, in.Path, follow); missing(err) {
			of, err = n, nil
		}
		if err != nil {
			return module2StatOut{}, err
		}
	}
	return module2StatOut{
		Path: rooted(n.path), Name: n.name(), Type: module2Kind(of.info.Mode()), SizeBytes: of.info.Size(),
		Modified: secondsOf(of.info.ModTime()), Created: secondsOf(of.info.BirthTime()),
		Permissions: perm(of.info.Mode()), IsSymlink: link,
	}, nil
}

// seconds is a time as the module tells it: seconds since 1970, always with a fraction.
type seconds float64

func secondsOf(t time.Time) seconds { return seconds(float64(t.UnixNano()) / 1e9) }

// MarshalJSON writes 1709942400 as 1709942400.0.
func (s seconds) MarshalJSON() ([]byte, error) {
	text := strconv.FormatFloat(float64(s), 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return json.RawMessage(text), nil
}
