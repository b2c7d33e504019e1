package search

import "context"

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

// take puts the outcomes of a batch into the result. The matches are put together at the end.
func (g *grep) take(b *batch) error {
	for _, f := range b.outcomes {
		if f.scanned {
			g.result.FilesScanned++
		}

		full := false
		f.matches, full = g.upToText(f.matches)
		if room := g.o.Max - g.count; g.o.Max > 0 && len(f.matches) > room {
			g.matches = append(g.matches, f.matches[:room])
			g.result.Truncated = true
			return errStop
		}
		if len(f.matches) > 0 {
			g.matches = append(g.matches, f.matches)
			g.count += len(f.matches)
		}
		if full {
			g.result.Truncated = true
			return errStop
		}

		if f.large {
			g.result.SkippedLarge = append(g.result.SkippedLarge, f.path)
		}
		if f.binary {
			g.result.SkippedBinary = append(g.result.SkippedBinary, f.path)
		}
	}
	return b.err
}

// upToText returns the matches up to the one that reaches MaxText; full reports that one does.
func (g *grep) upToText(list []GrepMatch) (some []GrepMatch, full bool) {
	if g.o.MaxText <= 0 {
		return list, false
	}
	for i := range list {
		if g.text += list[i].held(); g.text >= g.o.MaxText {
			return list[:i+1], true
		}
	}
	return list, false
}
