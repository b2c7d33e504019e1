package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The chart is 860 wide, as a page shows it. Its colours are in the middle between light and dark, because it does not
// know which of the two its page is.
const (
	chartWidth  = 860
	labelEnd    = 284 // the measured verb ends here, and the peer begins
	peerStart   = 294
	plotStart   = 424
	plotEnd     = 850
	plotPadding = 46 // on either side, for the figure at the end of a bar
	lineHeight  = 18
	barHeight   = 11

	ink   = "#737c86"
	faint = "#8b949e"
	won   = "#2f81c1"
	lost  = "#d2762b"
	self  = "#8b949e"
	asked = "#c2396f"
)

// A Bar is one line of a chart.
type Bar struct {
	Group   string  // the heading above the first bar of a group; "" is none
	Label   string  // the measured verb
	Peer    string  // the other side of the ratio
	Ratio   float64 // the peer's time divided by ours
	Figure  string  // the ratio as text
	AtLeast float64 // the goal, drawn as a tick; 0 is none
	Own     bool    // the peer is ours too, in another shape
}

// A chart is an unfinished drawing.
type chart struct {
	bytes.Buffer
	low, high float64 // logarithms of the ratios at the ends of the plot
}

// Draw draws bars as an SVG. Equal bars make equal drawings.
func Draw(title string, bars []Bar) []byte {
	groups := groups(bars)
	c := chart{low: -1, high: 1} // at least from 0.1x to 10x
	height := c.measure(groups)

	fmt.Fprintf(&c, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" `+
		`font-family="-apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', Helvetica, Arial, sans-serif" font-size="12" fill="%s">`+"\n",
		chartWidth, height, ink)
	fmt.Fprintf(&c, "<title>%s</title>\n", escape(title))
	c.legend(bars)
	top, y := 2*lineHeight, 2*lineHeight
	c.grid(top, height-lineHeight)

	for _, group := range groups {
		if group[0].Group != "" {
			y += lineHeight
			fmt.Fprintf(&c, `<text x="%d" y="%d" font-weight="bold">%s</text>`+"\n", 10, y-6, escape(group[0].Group))
		}
		for i, b := range group {
			if i == 0 || b.Label != group[i-1].Label { // once is enough
				fmt.Fprintf(&c, `<text x="%d" y="%d" text-anchor="end">%s</text>`, labelEnd, y+13, escape(b.Label))
			}
			c.bar(b, y)
			y += lineHeight
		}
		y += lineHeight / 2
	}
	c.WriteString("</svg>\n")
	return c.Bytes()
}

// groups cuts bars where the group changes.
func groups(bars []Bar) (groups [][]Bar) {
	for i, b := range bars {
		if i == 0 || b.Group != bars[i-1].Group {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], b)
	}
	return groups
}

// measure makes the scale long enough for all bars, and returns the height of the drawing.
func (c *chart) measure(groups [][]Bar) (height int) {
	height = 2 * lineHeight // of the legend
	for _, group := range groups {
		for _, b := range group {
			c.reach(b.Ratio)
			if b.AtLeast > 0 {
				c.reach(b.AtLeast)
			}
		}
		height += len(group)*lineHeight + lineHeight/2
		if group[0].Group != "" {
			height += lineHeight
		}
	}
	return height + lineHeight // of the scale
}

// reach makes the scale long enough for a ratio.
func (c *chart) reach(ratio float64) {
	c.low, c.high = min(c.low, math.Log10(ratio)), max(c.high, math.Log10(ratio))
}

// x returns the place of a ratio on the scale.
func (c *chart) x(ratio float64) float64 {
	const start, end = plotStart + plotPadding, plotEnd - plotPadding
	return start + (math.Log10(ratio)-c.low)/(c.high-c.low)*(end-start)
}

// legend explains, in the first line, the colours of the bars.
func (c *chart) legend(bars []Bar) {
	own := slices.ContainsFunc(bars, func(b Bar) bool { return b.Own })
	goals := slices.ContainsFunc(bars, func(b Bar) bool { return b.AtLeast > 0 })

	for _, key := range []struct {
		x          int
		fill, text string
		shown      bool
	}{
		{10, won, "ours is faster", true},
		{120, lost, "ours is slower", true},
		{234, self, "ours beside ours", own},
	} {
		if key.shown {
			fmt.Fprintf(c, `<rect x="%d" y="8" width="%d" height="%[2]d" rx="2" fill="%s"/>`, key.x, barHeight, key.fill)
			fmt.Fprintf(c, `<text x="%d" y="18">%s</text>`+"\n", key.x+barHeight+5, key.text)
		}
	}

	if goals {
		fmt.Fprintf(c, `<rect x="378" y="5" width="3" height="18" fill="%s"/><text x="386" y="18">at least</text>`+"\n", asked)
	}
	fmt.Fprintf(c, `<text x="%d" y="18" text-anchor="end">their time / our time, on a scale of logarithms</text>`+"\n", chartWidth-10)
}

// grid draws a line for each power of ten, and a heavier one for 1x.
func (c *chart) grid(top, bottom int) {
	for e := int(math.Ceil(c.low)); e <= int(math.Floor(c.high)); e++ {
		ratio := math.Pow10(e)
		width, opacity := "1", "0.35"
		if e == 0 {
			width, opacity = "1.5", "0.9"
		}
		fmt.Fprintf(c, `<path d="M%.1f %dV%d" stroke="%s" stroke-width="%s" stroke-opacity="%s"/>`,
			c.x(ratio), top, bottom, faint, width, opacity)
		fmt.Fprintf(c, `<text x="%.1f" y="%d" text-anchor="middle" font-size="11">%gx</text>`+"\n", c.x(ratio), bottom+14, ratio)
	}
}

// bar draws one bar, whose line begins at y, without its label.
func (c *chart) bar(b Bar, y int) {
	text := y + 13
	fmt.Fprintf(c, `<text x="%d" y="%d" font-size="11">%s</text>`, peerStart, text, escape(b.Peer))

	one, at := c.x(1), c.x(b.Ratio)
	fill, figureAt, anchor := won, at+5, "start"
	if b.Ratio < 1 {
		fill, figureAt, anchor = lost, at-5, "end"
	}
	if b.Own {
		fill = self
	}
	fmt.Fprintf(c, `<rect x="%.1f" y="%d" width="%.1f" height="%d" rx="2" fill="%s"/>`,
		min(one, at), y+(lineHeight-barHeight)/2, max(1, math.Abs(at-one)), barHeight, fill)

	// The tick of the goal may be where the figure would stand.
	if b.AtLeast > 0 {
		x := c.x(b.AtLeast)
		fmt.Fprintf(c, `<rect x="%.1f" y="%d" width="3" height="%d" fill="%s"/>`, x-1.5, y+1, lineHeight-2, asked)
		room := 4 + 7*float64(len(b.Figure))
		switch {
		case anchor == "start" && x > figureAt-4 && x < figureAt+room:
			figureAt = x + 5
		case anchor == "end" && x < figureAt+4 && x > figureAt-room:
			figureAt = x - 5
		}
	}
	fmt.Fprintf(c, `<text x="%.1f" y="%d" text-anchor="%s" font-size="11">%s</text>`+"\n", figureAt, text, anchor, b.Figure)
}

// escape returns s as text of XML.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder takes everything
	return b.String()
}
