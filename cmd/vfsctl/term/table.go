package term

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// A Cell is one field of a table.
type Cell struct {
	Text  string
	Style Style
	Right bool // aligned to the right
}

// A Table prints rows in columns.
type Table struct{ Rows [][]Cell }

// Row adds a row.
func (t *Table) Row(cells ...Cell) { t.Rows = append(t.Rows, cells) }

// Head adds a row of titles.
func (t *Table) Head(titles ...string) {
	cells := make([]Cell, len(titles))
	for i, title := range titles {
		cells[i] = Cell{Text: title, Style: Dim}
	}
	t.Row(cells...)
}

// Print prints the rows on o. A column is as wide as its widest cell.
func (t *Table) Print(o *Output) error {
	var widths []int
	for _, row := range t.Rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], runewidth.StringWidth(c.Text))
		}
	}

	for _, row := range t.Rows {
		var b strings.Builder
		for i, c := range row {
			pad := strings.Repeat(" ", widths[i]-runewidth.StringWidth(c.Text))
			if i > 0 {
				b.WriteString("  ")
			}
			if c.Right {
				b.WriteString(pad)
			}
			b.WriteString(o.Paint(c.Style, c.Text))
			if !c.Right && i < len(row)-1 {
				b.WriteString(pad)
			}
		}
		if err := o.Printf("%s\n", strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}
