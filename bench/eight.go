package main

import (
	"fmt"
	"strings"

	"vfsdb/bench/figures"
)

// A headline is one of the bars in the repository's README: the first row that a pick matches, in plain words.
type headline struct {
	words string
	pick
}

// headlines are the eight bars of the README, losses among them.
var headlines = []headline{
	{"remove a tree of 100,000 files", pick{workload: "remove-all", peer: "os.RemoveAll"}},
	{"stat a path again", pick{workload: "stat", what: "warm$", peer: "os.Lstat"}},
	{"import the source of Go", pick{workload: "import", peer: "git add+commit"}},
	{"search it again for a rare word", pick{workload: "grep", what: "rare literal", peer: "ripgrep"}},
	{"64 writers, each file durable", pick{workload: "create-writers", peer: "create+write+fsync"}},
	{"one writer, each file durable", pick{workload: "create-durable", what: " 1 KiB", peer: "create+write+fsync"}},
	{"import the source of Go", pick{workload: "import", peer: "cp -r"}},
	{"stream in 1 GiB, durable", pick{workload: "stream-in", peer: "file+blake3+fsync"}},
}

// eight returns the report of the rows of the headlines alone, without goals, in one group that has no name.
func (r report) eight() report {
	short := r
	short.Rows = nil
	for _, h := range headlines {
		found := line{picks: []pick{h.pick}}.rows(r.Rows)
		if len(found) == 0 {
			continue
		}
		row := found[0]
		row.Kind, row.What, row.Goal = "", h.words, nil
		short.Rows = append(short.Rows, row)
	}
	return short
}

// constants picks the verbs whose cost does not grow with the tree, measured in the largest one.
var constants = []headline{
	{"a snapshot", pick{workload: "snapshot", what: "1,000,000", peer: "a Chtimes"}},
	{"a branch", pick{workload: "branch", what: "1,000,000", peer: "a Chtimes"}},
	{"a diff of 200 changes", pick{workload: "diff", what: "1,000,000.*again"}},
	{"a restore of them", pick{workload: "restore", what: "1,000,000"}},
}

// brief writes the figures of the README: the chart in words for readers who cannot see it, the machine, the verbs that
// cost the same at any size, and the worst row.
func (r report) brief() string {
	var bars, sizes []string
	for _, row := range r.eight().Rows {
		bars = append(bars, fmt.Sprintf("%s, beside %s: %sx", row.What, row.Peer, figures.Digits(row.Ratio)))
	}
	for _, c := range constants {
		if found := (line{picks: []pick{c.pick}}).rows(r.Rows); len(found) > 0 {
			sizes = append(sizes, c.words+" "+found[0].cells()[1])
		}
	}

	var b strings.Builder
	fmt.Fprintf(&b, "![Their time divided by ours. %s](bench/eight.svg)\n\n", strings.Join(bars, "; "))
	fmt.Fprintf(&b, "%s.\n", r.head())
	if len(sizes) > 0 {
		fmt.Fprintf(&b, "In a tree of a million files: %s.\n", strings.ReplaceAll(strings.Join(sizes, ", "), " us", " µs"))
	}
	if worst, ok := r.worst(); ok {
		fmt.Fprintf(&b, "The worst row of all: %s, %sx of `%s`.\n", worst.What, figures.Digits(worst.Ratio), worst.Peer)
	}
	return b.String()
}

// worst returns the row in which ours is slowest compared with a peer that is not ours.
func (r report) worst() (worst row, ok bool) {
	for _, row := range r.Rows {
		if row.Peer == "" || row.Absent || row.Self || row.Ratio <= 0 {
			continue
		}
		if !ok || row.Ratio < worst.Ratio {
			worst, ok = row, true
		}
	}
	return worst, ok
}
