package main

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// A cell is one field of a table.
type cell struct {
	text  string
	style style
	right bool // aligned to the right
}

// A table prints rows in columns.
type table struct{ rows [][]cell }

func (t *table) row(cells ...cell) { t.rows = append(t.rows, cells) }

// head adds a row of titles.
func (t *table) head(titles ...string) {
	cells := make([]cell, len(titles))
	for i, title := range titles {
		cells[i] = cell{text: title, style: dim}
	}
	t.row(cells...)
}

func (t *table) print(o *output) error {
	var widths []int
	for _, row := range t.rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], runewidth.StringWidth(c.text))
		}
	}
	for _, row := range t.rows {
		var b strings.Builder
		for i, c := range row {
			pad := strings.Repeat(" ", widths[i]-runewidth.StringWidth(c.text))
			if i > 0 {
				b.WriteString("  ")
			}
			if c.right {
				b.WriteString(pad)
			}
			b.WriteString(o.paint(c.style, c.text))
			if !c.right && i < len(row)-1 {
				b.WriteString(pad)
			}
		}
		if err := o.printf("%s\n", strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}
