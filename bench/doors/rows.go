//go:build linux

package main

import (
	"fmt"
	"strings"

	"vfsdb/bench/figures"
)

// A row is one line of the table: what was measured in a sheet on each side, and what it may cost.
type row struct {
	door  string // run or mount
	work  string
	name  string  // in the sheet
	most  float64 // times the host's; of a row that only ours has, seconds
	aim   float64
	alone bool // the host has no such thing, or the figure is a time that stands for itself
}

// rows are all of them, in the order of the table.
var rows = []row{
	{"run", "start", "run -- true", 0.030, 0.015, true},
	{"run", "tree", "cat all, first", 6, 3, false},
	{"run", "tree", "cat all, again", 1.2, 1, false},
	{"run", "tree", "walk and stat, first", 0, 0, false},
	{"run", "tree", "walk and stat, again", 1.2, 1, false},
	{"run", "tree", "grep -r", 1.2, 1, false},
	{"run", "repo", "git status, first", 6, 3, false},
	{"run", "repo", "git status, again", 1.2, 1, false},
	{"run", "repo", "go build, cached", 1.2, 1, false},
	{"run", "repo", "go vet", 1.2, 1, false},
	{"run", "touch", "capture of 500 files", 0.040, 0.025, true},

	{"mount", "small", "create 1 KiB", 0.0001, 0.00006, true},
	{"mount", "small", "stat, known", 3, 2, false},
	{"mount", "small", "open and read, first", 0, 0, false},
	{"mount", "small", "open and read, again", 0, 0, false},
	{"mount", "small", "open and read, cached", 2, 1.3, false},
	{"mount", "small", "rm -r of 10,000 files", 2, 1, false},
	{"mount", "npm", "npm ci", 2, 1.2, false},
	{"mount", "untar", "untar 10,000 files, with sync", 2, 1, false},
	{"mount", "clone", "git clone", 2, 1.2, false},
	{"mount", "large", "write 64 MiB", 8, 4, false},
	{"mount", "large", "read 64 MiB, first", 4, 2, false},
	{"mount", "large", "read 64 MiB, again", 2, 1.3, false},
}

// table writes the rows that were measured, as Markdown.
func table(measured map[string]map[string][]float64) string {
	var b strings.Builder
	b.WriteString("| door | work | ours | host | ratio | floor | at most | aim | |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		ours, host := figures.Median(measured[r.door][r.name]), figures.Median(measured["host"][r.name])
		if ours == 0 {
			continue
		}
		against, beside, ratio, floor := ours, "", "", ""
		if host != 0 {
			beside, ratio = figures.Of(host, "s"), figures.Digits(ours/host)+"x"
		}
		if !r.alone {
			against = ours / host
		}
		if least := figures.Median(measured["floor"][r.name]); least != 0 {
			floor = figures.Of(least, "s")
		}

		verdict := ""
		switch {
		case r.most == 0:
		case against <= r.aim:
			verdict = "aim"
		case against <= r.most:
			verdict = "yes"
		default:
			verdict = "NO"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.door, r.name, figures.Of(ours, "s"), beside, ratio, floor, r.bound(r.most), r.bound(r.aim), verdict)
	}
	return b.String()
}

// bound writes a bound of the row.
func (r row) bound(v float64) string {
	switch {
	case v == 0:
		return ""
	case r.alone:
		return figures.Of(v, "s")
	}
	return figures.Digits(v) + "x"
}
