package arrows

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// Sizes of the drawing, in pixels: as wide as a page shows it.
const (
	drawingWidth  = 860
	drawingMargin = 24
	boxGap        = 16 // between boxes of a floor
	boxPadding    = 10
	floorGap      = 40 // between floors, for the arrows
	laneWidth     = 14 // of an arrow that passes a floor
	widest        = 420
)

// A line is a text in a box, in one of the fonts of the drawing.
type line struct {
	class, text string
	size        float64
	advance     float64 // the mean width of a letter, of a size
}

func (l line) width() float64 { return float64(len([]rune(l.text))) * l.size * l.advance }

// The fonts: a room's name, its caption, and its tables or packages.
func nameLine(text string) line    { return line{"name", text, 14, 0.61} }
func captionLine(text string) line { return line{"caption", text, 12, 0.55} }
func smallLine(text string) line   { return line{"small", text, 11, 0.61} }

// A box is a room with its place, or, without lines, the lane of an arrow that passes its floor.
type box struct {
	name                string
	lines               []line
	x, y, width, height float64 // x is its middle, y its top
	above, below        []*box  // those at the other ends of its arrows
}

// A layout is the boxes of each floor, the lowest first, from left to right.
type layout struct {
	floors [][]*box
	height float64
}

// wrap breaks words into lines of at most so many pixels.
func wrap(words []string, font func(string) line, width float64) (lines []line) {
	text := ""
	for _, word := range words {
		if next := strings.TrimSpace(text + " " + word); font(next).width() <= width {
			text = next
			continue
		}
		lines = append(lines, font(text))
		text = word
	}
	return append(lines, font(text))
}

// arrange finds a place for each box: a floor above all that it imports, near to these, with few arrows that cross.
func arrange(p plan) layout {
	var l layout
	floorOf := make(map[string]int)
	boxes := make(map[string]*box)
	for i, names := range floors(p.imports) {
		l.floors = append(l.floors, nil)
		for _, name := range names {
			boxes[name], floorOf[name] = &box{name: name}, i
			l.floors[i] = append(l.floors[i], boxes[name])
		}
	}
	for _, from := range slices.Sorted(maps.Keys(p.imports)) {
		for _, to := range p.imports[from] {
			upper := boxes[from]
			for floor := floorOf[from] - 1; floor > floorOf[to]; floor-- {
				lane := &box{name: from + " over " + to, width: laneWidth}
				l.floors[floor] = append(l.floors[floor], lane)
				upper.below, lane.above = append(upper.below, lane), append(lane.above, upper)
				upper = lane
			}
			upper.below, boxes[to].above = append(upper.below, boxes[to]), append(boxes[to].above, upper)
		}
	}
	for _, floor := range l.floors {
		fill(p, floor)
	}
	l.order()
	for round := range 200 {
		for i := range l.floors {
			floor := l.floors[i]
			if round%2 == 1 {
				floor = l.floors[len(l.floors)-1-i]
			}
			settle(floor)
		}
	}
	l.stack()
	return l
}

// fill writes the texts of a floor's boxes, which share its width.
func fill(p plan, floor []*box) {
	rooms, free := 0, float64(drawingWidth-2*drawingMargin+boxGap)
	for _, b := range floor {
		if b.width == laneWidth {
			free -= laneWidth + boxGap
			continue
		}
		rooms++
	}
	width := min(widest, free/float64(rooms)-boxGap)
	for _, b := range floor {
		if b.width == laneWidth {
			continue
		}
		inner := width - 2*boxPadding
		b.lines = append([]line{nameLine(b.name)}, wrap(strings.Fields(captions[b.name]), captionLine, inner)...)
		small := slices.Clone(p.packages[b.name])
		for table, owner := range owners {
			if owner == b.name {
				small = append(small, table)
			}
		}
		if slices.Sort(small); len(small) > 0 {
			b.lines = append(b.lines, wrap(small, smallLine, inner)...)
		}
		for _, line := range b.lines {
			b.width = max(b.width, line.width()+2*boxPadding)
		}
		b.height = float64(2*boxPadding) - 6
		for _, line := range b.lines {
			b.height += line.size + 4
		}
	}
}

// order sorts the boxes of each floor so that few arrows cross: it swaps neighbours while that helps.
func (l layout) order() {
	for better := true; better; {
		better = false
		for i := range l.floors {
			floor := l.floors[i]
			for a := range floor {
				for b := a + 1; b < len(floor); b++ {
					before := l.cost()
					floor[a], floor[b] = floor[b], floor[a]
					if l.cost() < before {
						better = true
						continue
					}
					floor[a], floor[b] = floor[b], floor[a]
				}
			}
		}
	}
}

// cost counts the crossings of arrows, and, for less, how far arrows go sideways if the boxes were spread evenly.
func (l layout) cost() float64 {
	at := make(map[*box]float64)
	for _, floor := range l.floors {
		for i, b := range floor {
			at[b] = (float64(i) + 1) / float64(len(floor)+1)
		}
	}
	cost := 0.0
	for _, floor := range l.floors {
		type arrow struct{ from, to float64 }
		var arrows []arrow
		for _, b := range floor {
			for _, below := range b.below {
				arrows = append(arrows, arrow{at[b], at[below]})
				cost += math.Abs(at[b]-at[below]) / 100
			}
		}
		for i, a := range arrows {
			for _, b := range arrows[:i] {
				if (a.from-b.from)*(a.to-b.to) < 0 {
					cost++
				}
			}
		}
	}
	return cost
}

// settle moves each box of a floor to the middle of its neighbours, as far as there is room.
func settle(floor []*box) {
	wanted := make([]float64, len(floor))
	for i, b := range floor {
		sum, weights := 0.0, 0.0
		for _, other := range slices.Concat(b.above, b.below) {
			weight := 1.0
			if b.lines == nil && other.lines == nil {
				weight = 20 // a lane is straight
			}
			sum, weights = sum+weight*cmp.Or(other.x, drawingWidth/2), weights+weight
		}
		wanted[i] = sum / max(weights, 1)
	}

	// From the left each box goes where it wants or further right, and from the right further left. The mean of both is fair.
	left, right := make([]float64, len(floor)), make([]float64, len(floor))
	end := float64(drawingMargin)
	for i, b := range floor {
		left[i] = max(wanted[i], end+b.width/2)
		end = left[i] + b.width/2 + boxGap
	}
	end = float64(drawingWidth - drawingMargin)
	for i, b := range slices.Backward(floor) {
		right[i] = min(wanted[i], end-b.width/2)
		end = right[i] - b.width/2 - boxGap
	}
	for i, b := range floor {
		b.x = (left[i] + right[i]) / 2
	}

	// The mean may stand out at an end.
	end = float64(drawingWidth - drawingMargin)
	for _, b := range slices.Backward(floor) {
		b.x = min(b.x, end-b.width/2)
		end = b.x - b.width/2 - boxGap
	}
	end = float64(drawingMargin)
	for _, b := range floor {
		b.x = math.Round(max(b.x, end+b.width/2))
		end = b.x + b.width/2 + boxGap
	}
}

// stack gives the floors their heights, the highest first.
func (l *layout) stack() {
	y := float64(drawingMargin)
	for _, floor := range slices.Backward(l.floors) {
		height := slices.MaxFunc(floor, func(a, b *box) int { return cmp.Compare(a.height, b.height) }).height
		for _, b := range floor {
			b.y, b.height = y, height
		}
		y += height + floorGap
	}
	l.height = y - floorGap + 2*drawingMargin
}
