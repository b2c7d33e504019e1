package arrows

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The drawing has a ground of its own, light or dark as the reader's system is, so it is legible on any page.
const drawingStyle = `<style>
.ground { fill: #ffffff; stroke: #d1d9e0 } .name { font: bold 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328 }
.caption { font: 12px -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', Helvetica, Arial, sans-serif; fill: #454c54 }
.small { font: 11px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #6a737d }
.arrow { fill: none; stroke: #818b98; stroke-width: 1.4 } .head { fill: #818b98 } .line { stroke: #b6bfc9; stroke-dasharray: 2 5 }
.numbers { fill: #ddf4ff; stroke: #54aeff } .names { fill: #dafbe1; stroke: #4ac26b } .agents { fill: #f6eeff; stroke: #c297ff } .doors { fill: #fff4d6; stroke: #d4a72c }
@media (prefers-color-scheme: dark) {
.ground { fill: #0d1117; stroke: #3d444d } .name { fill: #f0f6fc } .caption { fill: #c3ccd6 } .small { fill: #9198a1 }
.arrow { stroke: #7d8590 } .head { fill: #7d8590 } .line { stroke: #4a525c }
.numbers { fill: #10233d; stroke: #388bfd } .names { fill: #10281a; stroke: #2ea043 } .agents { fill: #241a38; stroke: #8957e5 } .doors { fill: #2d2410; stroke: #9e6a03 }
}
</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path class="head" d="M0 0.5 8 4 0 7.5z"/></marker></defs>
`

// paint writes the drawing.
func paint(p plan, l layout) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%.0f" viewBox="0 0 %[1]d %.0[2]f" role="img">`+"\n", drawingWidth, l.height)
	b.WriteString("<title>The rooms of the source, and which of them import which</title>\n" + drawingStyle)
	fmt.Fprintf(&b, `<rect class="ground" x="0.5" y="0.5" width="%d" height="%.0f" rx="9"/>`+"\n", drawingWidth-1, l.height-1)

	// Between vfs and the floors below it runs the line between names and numbers.
	for _, floor := range l.floors {
		for _, room := range floor {
			if room.name != "vfs" {
				continue
			}
			y := room.y + room.height + floorGap/2
			fmt.Fprintf(&b, `<path class="line" d="M%d %.1fH%d"/>`+"\n", drawingMargin, y, drawingWidth-drawingMargin)
			for _, side := range []struct {
				word  string
				lower float64
			}{{"names above", -7}, {"numbers below", 16}} {
				fmt.Fprintf(&b, `<text class="caption" x="%d" y="%.1f">%s</text>`+"\n", drawingMargin, y+side.lower, side.word)
			}
		}
	}

	// Arrows first: boxes cover their ends.
	for _, floor := range slices.Backward(l.floors) {
		for _, from := range floor {
			if from.lines == nil {
				continue
			}
			for _, to := range from.below {
				fmt.Fprintf(&b, `<path class="arrow" d="%s" marker-end="url(#head)"/>`+"\n", route(from, to))
			}
		}
	}
	for _, floor := range slices.Backward(l.floors) {
		for _, room := range floor {
			if room.lines == nil {
				continue
			}
			fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="7"/>`,
				kind(p, room.name), room.x-room.width/2, room.y, room.width, room.height)
			y := room.y + boxPadding - 3
			for _, line := range room.lines {
				y += line.size + 4
				fmt.Fprintf(&b, `<text class="%s" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, line.class, room.x, y-4, line.text)
			}
			b.WriteString("\n")
		}
	}
	fmt.Fprintf(&b, `<text class="caption" x="%d" y="%.0f" text-anchor="middle">`, drawingWidth/2, l.height-drawingMargin+6)
	b.WriteString("An arrow points at what is imported; one that others imply is left out. In small type: the tables that a room writes, or its packages.</text>\n</svg>\n")
	return b.Bytes()
}

// kind is the class of a room: what stands below vfs, what stands on it, what is for agents, and the doors.
func kind(p plan, name string) string {
	var below func(from string) bool
	below = func(from string) bool {
		return slices.ContainsFunc(p.imports[from], func(next string) bool { return next == name || below(next) })
	}
	switch {
	case below("vfs"):
		return "numbers"
	case strings.HasPrefix(name, "agent"):
		return "agents"
	case name == "mcp" || strings.HasPrefix(name, "cmd/"):
		return "doors"
	}
	return "names"
}

// route is the path of an arrow from the lower edge of a box to the upper edge of another one, along the lanes between.
func route(from, to *box) string {
	var b strings.Builder
	x, y := from.port(to, from.below), from.y+from.height
	fmt.Fprintf(&b, "M%.1f %.1f", x, y)
	for upper := from; ; upper, to = to, to.below[0] {
		end := to.port(upper, to.above)
		middle := (y + to.y) / 2
		fmt.Fprintf(&b, "C%.1f %.1f %.1f %.1f %.1f %.1f", x, middle, end, middle, end, to.y-1)
		if to.lines != nil {
			return b.String()
		}
		x, y = end, to.y+to.height
		fmt.Fprintf(&b, "V%.1f", y)
	}
}

// port is where one of a box's arrows begins or ends: they spread over its edge in the order of their other ends.
func (b *box) port(other *box, all []*box) float64 {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, c *box) int { return cmp.Compare(a.x, c.x) })
	step := min(26, b.width/float64(len(all)+1))
	return b.x + step*(float64(slices.Index(sorted, other))-float64(len(all)-1)/2)
}
