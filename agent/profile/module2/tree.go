package module2

import (
	"encoding/json"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"time"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/texts"
	"vfsdb/search"
)

// kindOf returns the word for a type of file.
func kindOf(mode fs.FileMode) string {
	if mode.IsDir() {
		return "dir"
	}
	return texts.Kind(mode)
}

type lsIn struct {
	Path          string `json:"path,omitempty" default:"\".\"" jsonschema:"directory to list"`
	Recursive     bool   `json:"recursive,omitempty" default:"false" jsonschema:"list what is below it too"`
	Pattern       string `json:"pattern,omitempty" jsonschema:"only what matches this glob, such as *.py"`
	IncludeHidden bool   `json:"include_hidden,omitempty" default:"false" jsonschema:"names that begin with a dot too"`
}

type entry struct {
	Name      string `json:"name"`
	Path      string `json:"path"`
	Type      string `json:"type" enum:"file,dir,symlink,other"`
	SizeBytes *int64 `json:"size_bytes,omitempty" jsonschema:"of a file"`
}

type lsOut struct {
	Path           string  `json:"path"`
	Entries        []entry `json:"entries"`
	Count          int     `json:"count"`
	Truncated      bool    `json:"truncated,omitempty" jsonschema:"there is more: list a part of it, or give a pattern"`
	OmittedEntries int     `json:"omitted_entries,omitempty"`
}

func ls(g *tool.Guard, in lsIn) (lsOut, error) {
	nodes, dir, omitted, err := list(g, in)
	if err != nil {
		return lsOut{}, err
	}
	o := lsOut{Path: dir, Entries: []entry{}, Count: len(nodes), Truncated: omitted > 0, OmittedEntries: omitted}
	for _, n := range nodes {
		e := entry{Name: n.Name(), Path: n.Path(), Type: kindOf(n.Info().Mode())}
		if n.Info().Mode().IsRegular() {
			size := n.Info().Size()
			e.SizeBytes = &size
		}
		o.Entries = append(o.Entries, e)
	}
	return o, nil
}

func list(g *tool.Guard, in lsIn) (nodes []*tool.Node, dir string, omitted int, err error) {
	if !in.Recursive && in.Pattern == "" {
		l, err := g.List(in.Path, in.IncludeHidden, g.Caps().Entries)
		if err != nil {
			return nil, "", 0, err
		}
		return l.Nodes, l.Dir, l.Omitted, nil
	}
	f, err := g.Find(tool.Query{
		Dir: in.Path, Pattern: in.Pattern, MatchBase: in.Recursive, Hidden: in.IncludeHidden, Limit: g.Caps().Entries,
	})
	if err != nil {
		return nil, "", 0, err
	}
	return f.Nodes, f.Dir, f.Omitted, nil
}

type grepIn struct {
	Pattern       string `json:"pattern" jsonschema:"regular expression (RE2)"`
	Path          string `json:"path,omitempty" default:"\".\"" jsonschema:"file or directory to search"`
	Include       string `json:"include,omitempty" jsonschema:"only files that match this glob, such as *.py"`
	Recursive     bool   `json:"recursive,omitempty" default:"true" jsonschema:"search subdirectories"`
	MaxResults    int    `json:"max_results,omitempty" default:"100" min:"1" jsonschema:"how many matches are enough"`
	CaseSensitive bool   `json:"case_sensitive,omitempty" default:"true" jsonschema:"upper and lower case differ"`
}

type match struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

type grepOut struct {
	Matches       []match  `json:"matches"`
	Count         int      `json:"count"`
	Truncated     bool     `json:"truncated,omitempty" jsonschema:"there are more matches"`
	SkippedLarge  []string `json:"skipped_large,omitempty" jsonschema:"files above max_file_size, not searched"`
	SkippedBinary []string `json:"skipped_binary,omitempty" jsonschema:"files that are no text, not searched"`
}

func grep(g *tool.Guard, in grepIn) (grepOut, error) {
	o := search.GrepOptions{Regex: true, IgnoreCase: !in.CaseSensitive, Path: in.Path, Max: min(in.MaxResults, g.Caps().Matches)}
	if in.Include != "" {
		o.Include = []string{in.Include}
	}
	if !in.Recursive {
		o.Exclude = []string{"*/"} // directories
	}

	r, err := g.Grep(in.Pattern, o)
	if err != nil {
		return grepOut{}, err
	}
	matches, more := g.Fit(r)
	out := grepOut{
		Matches: []match{}, Count: len(matches), Truncated: more,
		SkippedLarge: g.Skipped(r.SkippedLarge), SkippedBinary: g.Skipped(r.SkippedBinary),
	}

	for _, m := range matches {
		out.Matches = append(out.Matches, match{m.Path, m.Line, m.Text})
	}
	return out, nil
}

type findIn struct {
	Pattern    string `json:"pattern" jsonschema:"glob, such as *.py or src/**/*.py"`
	Path       string `json:"path,omitempty" default:"\".\"" jsonschema:"directory to search"`
	Type       string `json:"type,omitempty" enum:"file,dir" jsonschema:"only these; both if left out"`
	MaxResults int    `json:"max_results,omitempty" default:"100" min:"1" jsonschema:"how many are enough"`
}

type place struct {
	Path string `json:"path"`
	Type string `json:"type" enum:"file,dir,symlink,other"`
}

type findOut struct {
	Matches   []place `json:"matches" jsonschema:"sorted by path"`
	Count     int     `json:"count"`
	Truncated bool    `json:"truncated,omitempty" jsonschema:"there are more"`
}

func find(g *tool.Guard, in findIn) (findOut, error) {
	kind := in.Type
	if kind == "dir" {
		kind = "directory"
	}
	f, err := g.Find(tool.Query{
		Dir: in.Path, Pattern: in.Pattern, MatchBase: true, Kind: kind, Hidden: true, Perm: policy.Read, Enough: true,
		Limit: min(in.MaxResults, g.Caps().Matches),
	})
	if err != nil {
		return findOut{}, err
	}
	o := findOut{Matches: []place{}, Count: len(f.Nodes), Truncated: f.Omitted > 0}
	for _, n := range f.Nodes {
		o.Matches = append(o.Matches, place{n.Path(), kindOf(n.Info().Mode())})
	}
	return o, nil
}

type moveIn struct {
	Source      string `json:"source" jsonschema:"source path"`
	Destination string `json:"destination" jsonschema:"destination path"`
	Overwrite   bool   `json:"overwrite,omitempty" default:"false" jsonschema:"overwrite if it exists; files that only the destination has stay"`
}

type moveOut struct {
	Source      string `json:"source"`
	Destination string `json:"destination"`
}

func mv(g *tool.Guard, in moveIn) (moveOut, error) {
	return moveOutOf(g.Move(in.Source, in.Destination, in.Overwrite, tool.Precondition{}))
}

func cp(g *tool.Guard, in moveIn) (moveOut, error) {
	return moveOutOf(g.Copy(in.Source, in.Destination, in.Overwrite, tool.Precondition{}))
}

func moveOutOf(from, to *tool.Node, err error) (moveOut, error) {
	if err != nil {
		return moveOut{}, err
	}
	return moveOut{from.Path(), to.Path()}, nil
}

type rmIn struct {
	Path      string `json:"path" jsonschema:"path to delete"`
	Recursive bool   `json:"recursive,omitempty" default:"false" jsonschema:"required for directories"`
}

type rmOut struct {
	Path    string `json:"path"`
	Deleted bool   `json:"deleted"`
}

// rm removes a directory only with recursive, even an empty one.
func rm(g *tool.Guard, in rmIn) (rmOut, error) {
	if n, err := g.StatFor(policy.Delete, in.Path, tool.Keep); err == nil && n.Info().IsDir() && !in.Recursive {
		return rmOut{}, tool.Refuse(syscall.EISDIR, "'%s' is a directory. Set recursive to delete it with all that is in it", n.Path())
	}
	at, gone, err := g.Remove(in.Path, in.Recursive, false, tool.Precondition{})
	return rmOut{at, gone}, err
}

type pathIn struct {
	Path string `json:"path" jsonschema:"the path"`
}

type mkdirOut struct {
	Path    string `json:"path"`
	Created bool   `json:"created" jsonschema:"it was not there before"`
}

func mkdir(g *tool.Guard, in pathIn) (mkdirOut, error) {
	at, made, err := g.Mkdir(in.Path, true)
	if err != nil {
		return mkdirOut{}, err
	}
	return mkdirOut{at.Path(), made}, nil
}

type statOut struct {
	Path        string  `json:"path"`
	Name        string  `json:"name"`
	Type        string  `json:"type" enum:"file,dir,symlink,other"`
	SizeBytes   int64   `json:"size_bytes"`
	Modified    seconds `json:"modified" jsonschema:"seconds since 1970"`
	Created     seconds `json:"created" jsonschema:"seconds since 1970"`
	Permissions string  `json:"permissions"`
	IsSymlink   bool    `json:"is_symlink" jsonschema:"the rest describes what it leads to, unless that is missing"`
}

// stat describes the target of a symlink, and reports that it is one. A symlink that leads nowhere is described
// itself.
func stat(g *tool.Guard, in pathIn) (statOut, error) {
	n, err := g.StatFor(policy.Read, in.Path, tool.Keep)
	if err != nil {
		return statOut{}, err
	}
	of, link := n, n.Info().Target() != ""
	if link {
		if of, err = g.StatFor(policy.Read, in.Path, tool.Follow); tool.Missing(err) {
			of, err = n, nil
		}
		if err != nil {
			return statOut{}, err
		}
	}
	return statOut{
		Path: n.Path(), Name: n.Name(), Type: kindOf(of.Info().Mode()), SizeBytes: of.Info().Size(),
		Modified: secondsOf(of.Info().ModTime()), Created: secondsOf(of.Info().BirthTime()),
		Permissions: texts.Mode(of.Info().Mode()), IsSymlink: link,
	}, nil
}

// seconds is a time as the module writes it: seconds since 1970, always with a fraction.
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
