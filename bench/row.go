package main

import (
	"fmt"
	"time"
)

// A row is one line of the table: what was measured, beside whom, and whether that is enough.
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

// A goal is what a row is to reach: the least that we accept, and what we would like. A ratio is to be that large, a
// figure of ours to stay below. 0 asks for nothing.
type goal struct {
	OfRatio bool    `json:"of_ratio"` // not of our figure
	AtLeast float64 `json:"at_least,omitempty"`
	Aim     float64 `json:"aim,omitempty"`
	Met     string  `json:"met,omitempty"` // yes, NO, or aim for both; empty if the peer is absent
}

// versus makes the row of a race of ours with one peer, which must be reached to the given ratio; 0 is no goal.
func versus(what string, ours time.Duration, peer string, theirs time.Duration, atLeast float64) row {
	r := row{
		What: what, Unit: "s", Ours: ours.Seconds(), Peer: peer,
		Theirs: theirs.Seconds(), Ratio: float64(theirs) / float64(max(ours, 1)), // processor time can be none
	}
	return r.atLeast(atLeast)
}

// under makes the row of a figure of ours that must stay below a limit; 0 is no limit.
func under(what, unit string, ours, limit float64) row {
	r := row{What: what, Unit: unit, Ours: ours}
	return r.below(limit)
}

// absent makes the row of a race that the peer did not come to. It may have the goal that it would have.
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

// aim is what we would like of a row, by the same measure as its goal; without one, of its ratio.
func (r row) aim(value float64) row {
	g := goal{OfRatio: r.Peer != ""}
	if r.Goal != nil {
		g = *r.Goal
	}
	g.Aim = value
	return r.wants(g)
}

// itself says that the peer is ours too: what is compared are two shapes or sizes of it.
func (r row) itself() row {
	r.Self = true
	return r
}

// with adds a remark, which stands on a line of its own.
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

// got is what a goal is about: the ratio, or our figure.
func (r row) got() string {
	if r.Goal.OfRatio {
		return digits(r.Ratio) + "x"
	}
	return figure(r.Ours, r.Unit)
}

// cells writes the two halves of a goal and whether it is met.
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
		return "< " + figure(value, unit)
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
