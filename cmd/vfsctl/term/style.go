package term

import "io/fs"

// A Style is how a terminal shows something: the number of an escape sequence.
type Style string

const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	blue   Style = "1;34"
	Purple Style = "35"
	Cyan   Style = "36"
)

// Paint colours text, if this is a terminal and its user has not asked for none.
func (o *Output) Paint(s Style, text string) string {
	if !o.color || o.Zero || s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// StyleOf is how a terminal shows a file's name.
func StyleOf(m fs.FileMode) Style {
	switch {
	case m.IsDir():
		return blue
	case m&fs.ModeSymlink != 0:
		return Cyan
	case !m.IsRegular():
		return Yellow
	case m&0o111 != 0:
		return Green
	}
	return Plain
}
