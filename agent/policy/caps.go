package policy

import (
	"cmp"

	"vfsdb/search"
)

// Caps bound what one call gives back, so that no file or directory can flood the model's context. A field that is 0
// has its default. The profiles module2 and mcp-filesystem bound no results; the others have the defaults below,
// unless they have their own. -1 is no bound; another negative value is EINVAL.
type Caps struct {
	ResultBytes int   `json:"max_tool_result_bytes,omitempty"` // of text; 262144
	Entries     int   `json:"max_dir_entries,omitempty"`       // of a directory or a tree; 1000
	Matches     int   `json:"max_glob_matches,omitempty"`      // of glob, find and grep; 1000
	GrepFile    int64 `json:"max_grep_file_size,omitempty"`    // bytes of a file that grep looks into; 10 MiB
}

// Lift removes the bounds that nobody has set. It is for profiles whose original tools have none.
func (c *Caps) Lift() {
	c.ResultBytes, c.Entries, c.Matches = cmp.Or(c.ResultBytes, -1), cmp.Or(c.Entries, -1), cmp.Or(c.Matches, -1)
}

// The default caps.
const (
	DefaultResultBytes = 256 << 10
	DefaultEntries     = 1000
	DefaultMatches     = 1000
	DefaultGrepFile    = search.DefaultMaxFileSize
)

// NoBound is the value that -1 stands for.
const NoBound = 1 << 40

// Check refuses a cap that is neither a bound nor -1.
func (c Caps) Check() error {
	return CheckBounds("caps", map[string]int64{
		"max_tool_result_bytes": int64(c.ResultBytes), "max_dir_entries": int64(c.Entries),
		"max_glob_matches": int64(c.Matches), "max_grep_file_size": c.GrepFile,
	})
}

// Resolved puts the defaults for 0 and no bound for -1. GrepFile keeps its -1.
func (c Caps) Resolved() Caps {
	fill := func(v *int, whole int) {
		switch *v {
		case 0:
			*v = whole
		case -1:
			*v = NoBound
		}
	}
	fill(&c.ResultBytes, DefaultResultBytes)
	fill(&c.Entries, DefaultEntries)
	fill(&c.Matches, DefaultMatches)
	if c.GrepFile == 0 {
		c.GrepFile = DefaultGrepFile
	}
	return c
}

// MaxImage is the largest image that is shown, in bytes: models take no larger ones.
const MaxImage = 5 << 20
