package search

import (
	"context"
	"slices"
	"strings"

	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// DefaultMaxFileSize is the longest file that Grep searches if [GrepOptions] set no limit: 10 MiB.
const DefaultMaxFileSize = 10 << 20

// GrepOptions are options of [Grep]. A nil *GrepOptions is the zero value: a literal text, in the whole tree.
type GrepOptions struct {
	// Regex makes the pattern a regular expression, in the syntax of package regexp, which is RE2: it takes linear
	// time.
	Regex bool

	// IgnoreCase makes letters equal that Unicode folds to the same.
	IgnoreCase bool

	// Path is the directory to search in, or the one file to search; "" is the root.
	Path string

	// A file must match one of the patterns in Include, if there are any. A file or directory that matches one in
	// Exclude is left out, a directory with all that is in it. The patterns are in the dialect of [Glob]. They are
	// matched on the path relative to Path, or, without a slash, on its last segment. A file that Path itself names is
	// always searched.
	Include, Exclude []string

	// MaxFileSize is the length in bytes beyond which a file is not searched. 0 is DefaultMaxFileSize, -1 no limit.
	MaxFileSize int64

	// Max is how many matches are enough; 0 is no limit.
	Max int

	// MaxText is how many bytes of lines are enough, context included: each match holds its lines in memory. The match
	// that reaches MaxText is the last. 0 is no limit.
	MaxText int64

	// Before and After are how many lines of context come with each match.
	Before, After int
}

// A GrepMatch is one line that matches.
type GrepMatch struct {
	Path          string   // from the root of the tree, in the form of io/fs
	Line          int      // the number of the line; the first is 1
	Text          string   // the line, without the line break
	Before, After []string // the context that the options ask for, as far as there are such lines
}

// A GrepResult is the result of [Grep]: the matches, and the files that were not searched.
type GrepResult struct {
	Matches []GrepMatch

	// SkippedLarge lists files beyond MaxFileSize, which were not searched, and files with a line so long that they
	// were not searched to their end: a line and its context may take 64 MiB of memory.
	SkippedLarge []string

	// SkippedBinary lists files that look binary, see [vfs.LooksBinary]. They were not searched.
	SkippedBinary []string

	// FilesScanned is how many files were searched, the last one perhaps not to its end.
	FilesScanned int

	// Truncated reports that there are more matches than Max, or that there may be more because MaxText was reached.
	Truncated bool
}

// Grep searches the lines of files for a text, or with Regex for a regular expression, in the order of a walk. A line
// ends at "\n"; that, and a "\r" before it, are not part of it. Symlinks below Path are not followed. Grep stops at the
// first match beyond Max, and then reports that the result is truncated.
//
// Contents are verified as they are read. Grep may know from an earlier search by this process that a content has no
// match: then the file counts as searched, and is not read again.
//
// On a [vfs.FS], several files are searched at once, each at a moment of its own: one that is removed before its turn
// is passed over.
//
// Errors: ENOENT (no such path), EINVAL (a bad pattern, an empty one, a regular expression above 16 KiB, a literal one of
// more than one line, one that is not UTF-8 with Regex or IgnoreCase, or a Path that is neither file nor directory).
func Grep(ctx context.Context, v Viewer, pattern string, o *GrepOptions) (*GrepResult, error) {
	files, cancel := context.WithCancel(ctx)
	defer cancel()

	_, alone := v.(*vfs.Tx)
	g := grep{viewer: v, alone: alone, ctx: ctx, files: files, cancel: cancel}
	return g.all(pattern, o)
}

// A grep is one Grep that runs.
type grep struct {
	viewer Viewer
	alone  bool            // the viewer is a Tx, which only one goroutine may use
	ctx    context.Context // of the search
	files  context.Context // of the goroutines that search files
	cancel func()          // ends files

	o                GrepOptions
	matcher          lineMatcher
	sketches         *sketches
	number           int64 // of this search, for sketches
	learn            bool  // contents are to be sketched
	include, exclude []filter
	result           GrepResult
	matches          [][]GrepMatch // of the result, file by file
	count            int           // of matches
	text             int64         // the memory of the matches, if that is limited
}

func (g *grep) all(pattern string, o *GrepOptions) (*GrepResult, error) {
	if o != nil {
		g.o = *o
	}
	if g.o.Path == "" {
		g.o.Path = "/"
	}
	if g.o.MaxFileSize == 0 {
		g.o.MaxFileSize = DefaultMaxFileSize
	}
	if err := g.search(pattern); err != nil && err != errStop {
		return nil, pathErr("grep", g.o.Path, err)
	}
	g.result.Matches = slices.Concat(g.matches...)
	return &g.result, nil
}

func (g *grep) search(text string) (err error) {
	if g.matcher, err = newLineMatcher(text, g.o.Regex, g.o.IgnoreCase); err != nil {
		return err
	}
	if g.include, err = newFilters(g.o.Include); err != nil {
		return err
	}
	if g.exclude, err = newFilters(g.o.Exclude); err != nil {
		return err
	}

	var start *entry
	err = view(g.ctx, g.viewer, func(tx *tree.Tx) (err error) {
		g.sketches = sketchesOf(tx)
		start, err = locate(tx, g.o.Path)
		return err
	})
	if err != nil {
		return err
	}
	g.number, g.learn = g.sketches.begin()

	at := candidate{start.path, start.Ino}
	if start.Kind != node.KindDir {
		b := &batch{files: []candidate{at}, done: make(chan struct{})}
		(&scanner{grep: g}).search(b)
		return g.take(b)
	}
	return g.run(&lister{grep: g, prefix: len(node.JoinPath(at.path, "")), open: []*listing{{dir: at}}})
}

// A filter is one pattern of Include or Exclude.
type filter struct {
	*Pattern
	base bool // matched on the last segment
}

func newFilters(texts []string) ([]filter, error) {
	var list []filter
	for _, text := range texts {
		p, err := compile(text)
		if err != nil {
			return nil, err
		}
		base := !strings.Contains(strings.TrimRight(text, "/"), "/")
		list = append(list, filter{p, base})
	}
	return list, nil
}

func anyMatches(list []filter, rel string, e *entry) bool {
	for _, f := range list {
		of := rel
		if f.base {
			of = e.Name
		}
		if f.Match(of, e.Kind == node.KindDir) {
			return true
		}
	}
	return false
}
