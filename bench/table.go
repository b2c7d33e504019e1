package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"vfsdb/bench/figures"
)

// print writes the table, at most 110 columns wide, and which goals were met.
func (r report) print(w io.Writer) error {
	var b strings.Builder
	b.WriteString(r.head() + "\n\n")
	lines := [][]string{{"what", "ours", "peer", "theirs", "ratio", "at least", "aim", "met"}}
	for _, row := range r.Rows {
		lines = append(lines, row.cells())
	}

	widths := make([]int, len(lines[0]))
	for _, cells := range lines {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	line := func(cells []string) {
		var l strings.Builder
		for i, cell := range cells {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch i {
			case 0, 7:
				l.WriteString(cell + gap + " ")
			case 2:
				l.WriteString(" " + cell + gap + " ")
			case 5:
				l.WriteString(" " + gap + cell + " ")
			default:
				l.WriteString(gap + cell + " ")
			}
		}
		fmt.Fprintln(&b, strings.TrimRight(l.String(), " "))
	}

	line(lines[0])
	for i, row := range r.Rows {
		if i > 0 && row.Workload != r.Rows[i-1].Workload {
			b.WriteString("\n")
		}
		line(lines[i+1])
		if row.Note != "" {
			fmt.Fprintf(&b, "    %s\n", row.Note)
		}
	}

	b.WriteString(r.goals())
	for _, f := range r.Failed {
		fmt.Fprintf(&b, "\n%s failed: %s\n", f.Workload, f.Error)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cells returns the columns of a row.
func (r row) cells() []string {
	theirs, ratio := "", ""
	switch {
	case r.Absent:
		theirs = "absent"
	case r.Peer != "":
		theirs, ratio = figures.Of(r.Theirs, r.Unit), figures.Digits(r.Ratio)+"x"
	}
	atLeast, aim, met := r.Goal.cells(r.Unit)
	return []string{r.What, figures.Of(r.Ours, r.Unit), r.Peer, theirs, ratio, atLeast, aim, met}
}

// head describes the run.
func (r report) head() string {
	head := fmt.Sprintf("%s; medians of %d rounds", r.Machine, r.Rounds)
	if r.Took >= 90 {
		head += fmt.Sprintf("; %.0f minutes", r.Took/60)
	}
	if r.CPU {
		head += "; processor time"
	}
	if r.Short {
		head += "; -short sizes: read no figures"
	}
	return head
}

// goals counts the goals that were met, and names those that were missed or that have no peer.
func (r report) goals() string {
	var asked, met, aims, reached int
	var missed, unknown []string
	for _, row := range r.Rows {
		if row.Goal == nil {
			continue
		}
		name := row.What
		if row.Peer != "" {
			name += ", beside " + row.Peer
		}

		atLeast, _, verdict := row.Goal.cells(row.Unit)
		if row.Absent && row.Goal.OfRatio {
			unknown = append(unknown, name)
			continue
		}
		if row.Goal.AtLeast != 0 {
			asked++
			if verdict != "NO" {
				met++
			} else {
				missed = append(missed, fmt.Sprintf("%s: %s of %s", name, row.got(), atLeast))
			}
		}
		if row.Goal.Aim != 0 {
			aims++
			if verdict == "aim" {
				reached++
			}
		}
	}

	if asked+aims == 0 {
		return ""
	}

	var b strings.Builder
	fmt.Fprintf(&b, "\nat least: %d of %d met; aim: %d of %d\n", met, asked, reached, aims)
	for _, list := range []struct {
		head  string
		names []string
	}{{"not met", missed}, {"not measured, since the peer is absent", unknown}} {
		if len(list.names) > 0 {
			fmt.Fprintf(&b, "%s:\n    %s\n", list.head, strings.Join(list.names, "\n    "))
		}
	}
	return b.String()
}
