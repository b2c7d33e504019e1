package main

import "io/fs"

// A style is how a terminal shows something: the number of an escape sequence.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	blue   style = "1;34"
	purple style = "35"
	cyan   style = "36"
)

// paint colours text, if this is a terminal and its user has not asked for none.
func (o *output) paint(s style, text string) string {
	if !o.color || o.zero || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// styleOf is how a terminal shows a file's name.
func styleOf(m fs.FileMode) style {
	switch {
	case m.IsDir():
		return blue
	case m&fs.ModeSymlink != 0:
		return cyan
	case !m.IsRegular():
		return yellow
	case m&0o111 != 0:
		return green
	}
	return plain
}
