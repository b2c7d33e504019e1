package main

import (
	"vfsdb/bench/chart"
	"vfsdb/bench/figures"
)

// chart draws the rows that have a bar. Equal reports make equal drawings.
func (r report) chart() []byte {
	return chart.Draw("How often ours runs while another runs once: "+r.head(), r.bars())
}

// bars returns the bars of the rows that have one.
func (r report) bars() (bars []chart.Bar) {
	for _, row := range r.Rows {
		if !row.drawn() {
			continue
		}
		b := chart.Bar{Group: row.Kind, Label: row.What, Peer: row.Peer, Ratio: row.Ratio, Figure: figures.Digits(row.Ratio) + "x", Own: row.Self}
		if row.Goal != nil && row.Goal.OfRatio {
			b.AtLeast = row.Goal.AtLeast
		}
		bars = append(bars, b)
	}
	return bars
}

// drawn reports whether a row has a bar. It needs a ratio, and if the peer is ours too, a goal.
func (r row) drawn() bool {
	if r.Peer == "" || r.Absent || r.Ratio <= 0 {
		return false
	}
	return !r.Self || r.Goal != nil && r.Goal.OfRatio
}
