package main

import (
	"fmt"
	"time"

	"vfsdb/bench/figures"
)

// A row is one line of the table: a measured verb, its peer, and whether it meets its goal.
type row struct {
	Kind     string  `json:"kind"` // of the workload
	Workload string  `json:"workload"`
	What     string  `json:"what"`
	Unit     string  `json:"unit"` // of ours and theirs: s, B, or B/B
	Ours     float64 `json:"ours"`
	Peer     string  `json:"peer,omitempty"`
	Theirs   float64 `json:"theirs,omitempty"`
	Ratio    float64 `json:"ratio,omitempty"`  // theirs / ours
	Absent   bool    `json:"absent,omitempty"` // the peer is not installed
	Self     bool    `json:"self,omitempty"`   // the peer is ours too, in another shape
	Goal     *goal   `json:"goal,omitempty"`
	Note     string  `json:"note,omitempty"`
}

// A goal is the least that we accept of a row, and the value that we aim for. A ratio must be at least that large, a
// figure of ours must stay below. 0 is no goal.
type goal struct {
	OfRatio bool    `json:"of_ratio"` // not of our figure
	AtLeast float64 `json:"at_least,omitempty"`
	Aim     float64 `json:"aim,omitempty"`
	Met     string  `json:"met,omitempty"` // yes, NO, or aim for both; empty if the peer is absent
}

// versus makes the row of a race of ours with one peer. The ratio must be at least atLeast; 0 is no goal.
func versus(what string, ours time.Duration, peer string, theirs time.Duration, atLeast float64) row {
	r := row{
		What: what, Unit: "s", Ours: ours.Seconds(), Peer: peer,
		Theirs: theirs.Seconds(), Ratio: float64(theirs) / float64(max(ours, 1)), // processor time can be 0
	}
	return r.atLeast(atLeast)
}

// under makes the row of a figure of ours that must stay below a limit; 0 is no limit.
func under(what, unit string, ours, limit float64) row {
	r := row{What: what, Unit: unit, Ours: ours}
	return r.below(limit)
}

// absent makes the row of a race whose peer is not installed. It may have the goal that it would have.
func absent(what string, ours time.Duration, peer string) row {
	return row{What: what, Unit: "s", Ours: ours.Seconds(), Peer: peer, Absent: true}
}

// atLeast gives a row a goal for its ratio; 0 takes it away.
func (r row) atLeast(ratio float64) row {
	return r.wants(goal{OfRatio: true, AtLeast: ratio})
}

// below gives a row a limit on our figure; 0 takes it away.
func (r row) below(limit float64) row {
	return r.wants(goal{AtLeast: limit})
}

// aim sets the value that we aim for, by the same measure as the goal of the row; without a goal, of its ratio.
func (r row) aim(value float64) row {
	g := goal{OfRatio: r.Peer != ""}
	if r.Goal != nil {
		g = *r.Goal
	}
	g.Aim = value
	return r.wants(g)
}

// itself marks a row whose peer is ours too, in another shape or size.
func (r row) itself() row {
	r.Self = true
	return r
}

// with adds a note, which has a line of its own.
func (r row) with(format string, args ...any) row {
	r.Note = fmt.Sprintf(format, args...)
	return r
}

func (r row) wants(g goal) row {
	r.Goal = nil
	if g.AtLeast == 0 && g.Aim == 0 {
		return r
	}
	g.Met = ""
	if !g.OfRatio || !r.Absent {
		switch {
		case g.AtLeast != 0 && !g.reached(r, g.AtLeast):
			g.Met = "NO"
		case g.Aim != 0 && g.reached(r, g.Aim):
			g.Met = "aim"
		case g.AtLeast != 0:
			g.Met = "yes"
		}
	}
	r.Goal = &g
	return r
}

func (g *goal) reached(r row, value float64) bool {
	if g.OfRatio {
		return r.Ratio >= value
	}
	return r.Ours < value
}

// got returns the measured value of a goal: the ratio, or our figure.
func (r row) got() string {
	if r.Goal.OfRatio {
		return figures.Digits(r.Ratio) + "x"
	}
	return figures.Of(r.Ours, r.Unit)
}

// cells returns the two halves of a goal and whether it is met, as text.
func (g *goal) cells(unit string) (atLeast, aim, met string) {
	if g == nil {
		return "", "", ""
	}
	write := func(value float64) string {
		switch {
		case value == 0:
			return ""
		case g.OfRatio:
			return fmt.Sprintf("%gx", value)
		}
		return "< " + figures.Of(value, unit)
	}
	return write(g.AtLeast), write(g.Aim), g.Met
}

// add puts rows of the running workload into the report.
func (b *bench) add(rows ...row) {
	for _, r := range rows {
		r.Kind, r.Workload = b.kind, b.name
		b.rows = append(b.rows, r)
	}
}
