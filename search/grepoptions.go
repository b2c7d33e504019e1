package search

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
