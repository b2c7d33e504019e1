package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"vfsdb/bench/figures"
)

// A line is one of the short table in bench/README.md, made of all rows that its picks match.
type line struct {
	what  string
	picks []pick
}

// A pick matches rows of one workload, by a regular expression for what they measure, and by their peer if it names
// one.
type pick struct {
	workload, what, peer string
	alone                bool // the peer is not shown
}

// highlights are the lines of the short table.
var highlights = []line{
	{"create files of 1, 10 and 50 KiB, thousands in one `Update`", []pick{{workload: "create-batch"}}},
	{"write the rows of 10,000 new files", []pick{{workload: "create-raw"}}},
	{"create files of 1 and 10 KiB one by one, durable", []pick{{workload: "create-durable"}}},
	{"create files of 1 KiB from 64 goroutines, durable", []pick{{workload: "create-writers"}}},
	{"read files of 1 to 50 KiB at random, verified", []pick{{workload: "read-random"}}},
	{"stat of a path of 5 segments, again and for the first time", []pick{{workload: "stat"}}},
	{"`RemoveAll` of 100,000 files", []pick{{workload: "remove-all"}}},
	{"overwrite 4 KiB of 256 MiB, durable", []pick{{workload: "overwrite", what: "durable"}}},
	{"stream in 1 GiB, durable", []pick{{workload: "stream-in", peer: "file+blake3+fsync"}}},
	{"stream out 1 GiB, verified", []pick{{workload: "stream-out"}}},
	{"peak memory of streaming", []pick{{workload: "stream-rss"}}},
	{"import the source of Go, 11,478 files", []pick{
		{workload: "import", peer: "cp -r"}, {workload: "import", peer: "git add+commit"}, {workload: "import", peer: "restic backup"},
	}},
	{"import it again with 1% changed", []pick{{workload: "import-again", peer: "cp -r"}, {workload: "import-again", peer: "restic backup"}}},
	{"export it", []pick{{workload: "export", peer: "cp -r"}, {workload: "export", peer: "git checkout"}}},
	{"search it for a literal in a store just opened", []pick{{workload: "grep", what: "just opened"}}},
	{"search it again for a literal; with `(?i)`", []pick{{workload: "grep", what: "rare literal|i\\)"}}},
	{"database bytes for each byte of it; after `compact`", []pick{{workload: "import", what: "^database"}, {workload: "compact", what: "^database"}}},
	{"snapshot, of 1,000, 100,000 and 1,000,000 files", []pick{{workload: "snapshot", peer: "a Chtimes", alone: true}}},
	{"branch, of the same trees", []pick{{workload: "branch", peer: "a Chtimes", alone: true}}},
	{"diff of 200 changes, in trees of 1,000, 100,000 and 1,000,000 files", []pick{{workload: "diff", what: "again$"}}},
	{"restore of 200 changes, in the same trees", []pick{{workload: "restore"}}},
	{"merge of 200 changes a side in 100,000 files; one side unmoved", []pick{{workload: "merge"}}},
	{"bytes for a snapshot and a changed file; for a fork", []pick{{workload: "snapshot-chain", what: "^bytes per write"}, {workload: "branch-bytes", what: "^bytes"}}},
	{"drop a branch of 10,000 files, then gc", []pick{{workload: "gc", peer: "os.RemoveAll"}}},
	{"stat of a path 16 forks deep, first and again", []pick{{workload: "lineage", what: "^resolve"}}},
}

// rows returns the rows of a line.
func (l line) rows(all []row) (found []row) {
	for _, p := range l.picks {
		what := regexp.MustCompile(p.what)
		for _, r := range all {
			if r.Workload == p.workload && what.MatchString(r.What) && (p.peer == "" || r.Peer == p.peer) {
				if p.alone {
					r.Peer = ""
				}
				found = append(found, r)
			}
		}
	}
	return found
}

// short writes the short table. A line whose rows were not measured is left out.
func (r report) short() string {
	var b strings.Builder
	b.WriteString("| what | ours | beside | ratio |\n|---|---|---|---|\n")
	for _, l := range highlights {
		rows := l.rows(r.Rows)
		if len(rows) == 0 {
			continue
		}

		var ours, theirs, ratios []string
		for i, row := range rows {
			cells := row.cells()
			if i == 0 || row.What != rows[i-1].What { // else it only has another peer
				ours = append(ours, cells[1])
			}
			if row.Peer == "" {
				continue
			}
			if i > 0 && row.Peer == rows[i-1].Peer {
				theirs = append(theirs, cells[3])
			} else {
				theirs = append(theirs, fmt.Sprintf("`%s`: %s", row.Peer, cells[3]))
			}
			if !row.Absent {
				ratios = append(ratios, cells[4])
			}
		}

		table := fmt.Sprintf("| %s | %s | %s | %s |\n", l.what, strings.Join(ours, "; "), strings.Join(theirs, "; "), strings.Join(ratios, "; "))
		b.WriteString(strings.ReplaceAll(table, " us", " µs"))
	}
	return b.String()
}

// renew writes the report into the pages of the repository in dir: its JSON and the chart, the short table and the one
// with all rows in bench/README.md, and the eight bars of README.md.
func (r report) renew(dir string) error {
	var encoded, table bytes.Buffer
	if err := errors.Join(r.encode(&encoded), r.print(&table)); err != nil {
		return err
	}
	inBench := func(name string) string { return filepath.Join(dir, "bench", name) }
	return errors.Join(
		os.WriteFile(inBench("newest.json"), encoded.Bytes(), 0o644),
		os.WriteFile(inBench("ratios.svg"), r.chart(), 0o644),
		os.WriteFile(inBench("eight.svg"), r.eight().chart(), 0o644),
		figures.Replace(inBench("README.md"), shortBegin, r.head()+".\n\n"+r.short()),
		figures.Replace(inBench("README.md"), figuresBegin, "```\n"+table.String()+"```\n"),
		figures.Replace(filepath.Join(dir, "README.md"), figuresBegin, r.brief()),
	)
}

// The figures of a page begin after these lines.
const (
	figuresBegin = "<!-- figures, by go run ./bench -pages . -->\n"
	shortBegin   = "<!-- short table, by go run ./bench -pages . -->\n"
)
