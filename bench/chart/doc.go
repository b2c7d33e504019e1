// Package chart draws ratios as an SVG, for the pages of this repository.
//
//	svg := chart.Draw("how fast", []chart.Bar{{Group: "files", Label: "stat", Peer: "os.Lstat", Ratio: 9, Figure: "9x"}})
//
// Each ratio is a bar that begins at 1x, on a logarithmic scale: to the right where ours is faster, to the left where
// it is slower. Bars stand in groups, each with a heading. A goal is a tick on its bar. The package knows no benchmark:
// a caller gives it the bars.
package chart
