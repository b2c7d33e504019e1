package term

import "io/fs"

// A Style is the look of a text on a terminal: the number of an escape sequence.
type Style string

// The styles.
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

// Paint colours text on a terminal whose user has not turned colours off.
func (o *Output) Paint(s Style, text string) string {
	if !o.color || o.Zero || s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// StyleOf returns the style of a file's name, which depends on its type.
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
