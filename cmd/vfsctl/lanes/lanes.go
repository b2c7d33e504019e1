package lanes

import (
	"bytes"
	"slices"
)

// A Drawer draws the nodes of one history, the newest first. K is what tells nodes apart. The zero value is ready to draw.
type Drawer[K comparable] struct {
	lanes []K // the node that each lane leads to, from left to right; no two are the same between two nodes
	drawn map[K]bool
	rows  []string // of the node at hand
}

// Node draws a node. The text of the node stands behind head; tail are the lines that follow, which lead to its parents. A
// parent that was drawn already, or that is named twice, gets no line.
func (d *Drawer[K]) Node(id K, parents ...K) (head string, tail []string) {
	if d.drawn == nil {
		d.drawn = make(map[K]bool)
	}
	d.drawn[id] = true
	at := slices.Index(d.lanes, id)
	if at < 0 {
		at = len(d.lanes)
		d.lanes = append(d.lanes, id)
	}
	row := d.straight()
	row[2*at] = '*'

	var up []K
	for _, p := range parents {
		if !d.drawn[p] && !slices.Contains(up, p) {
			up = append(up, p)
		}
	}
	d.rows = nil
	wide := len(d.lanes)
	if len(up) == 0 {
		d.end(at)
	} else {
		d.lead(at, up)
		wide = max(wide, len(d.lanes))
		d.join()
	}

	pad := bytes.Repeat([]byte(" "), 2*wide-len(row))
	return string(row) + string(pad), d.rows
}

// Beside returns what stands beside a further line of the text of the node that was drawn last.
func (d *Drawer[K]) Beside() string { return string(d.straight()) }

// straight returns a row in which all lanes go straight down. A lane is two columns wide.
func (d *Drawer[K]) straight() []byte { return bytes.Repeat([]byte("| "), len(d.lanes)) }

// add adds a row to those of the node.
func (d *Drawer[K]) add(row []byte) { d.rows = append(d.rows, string(bytes.TrimRight(row, " "))) }

// end ends a lane, and moves those beside it to the left.
func (d *Drawer[K]) end(at int) {
	row := d.straight()
	row[2*at] = ' '
	moveLeft(row, at+1)
	if at < len(d.lanes)-1 {
		d.add(row)
	}
	d.lanes = slices.Delete(d.lanes, at, at+1)
}

// moveLeft draws that the lanes from one on go to the left.
func moveLeft(row []byte, from int) {
	for i := 2 * from; i < len(row); i += 2 {
		row[i-1], row[i] = '/', ' '
	}
}

// lead makes the lane of a node lead to its parents. The first one goes straight down, and the others get lanes on its right.
func (d *Drawer[K]) lead(at int, parents []K) {
	left := at > 0 && d.lanes[at-1] == parents[0]
	if left && len(parents) == 2 && !slices.Contains(d.lanes, parents[1]) {
		row := d.straight()
		row[2*at-1] = '/'
		d.add(row)
		d.lanes[at] = parents[1]
		return
	}

	d.lanes[at] = parents[0]
	for _, p := range slices.Backward(parents[1:]) {
		row := d.straight()
		switch {
		case at+1 < len(d.lanes) && d.lanes[at+1] == p:
			row[2*at+1] = '\\'
		case at > 0 && d.lanes[at-1] == p:
			row[2*at-1] = '/'
		default:
			for i := at + 1; i < len(d.lanes); i++ {
				row[2*i-1], row[2*i] = '\\', ' '
			}
			row[len(row)-1] = '\\'
			d.lanes = slices.Insert(d.lanes, at+1, p)
		}
		d.add(row)
	}
}

// join brings lanes that lead to one node together, one after the other.
func (d *Drawer[K]) join() {
	for from := 1; from < len(d.lanes); from++ {
		to := slices.Index(d.lanes, d.lanes[from])
		if to == from {
			continue
		}

		row := d.straight()
		moveLeft(row, from)
		for i := to + 1; i < from-1; i++ {
			row[2*i+1] = '_'
		}
		d.add(row)
		d.lanes = slices.Delete(d.lanes, from, from+1)
		if from-to > 1 {
			row := d.straight()
			row[2*to+1] = '/'
			d.add(row)
		}
		from--
	}
}
