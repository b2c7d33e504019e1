package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// An output is standard output or standard error, and what is known of the terminal behind it.
type output struct {
	*bufio.Writer
	file  *os.File // nil if it is none
	tty   bool
	color bool
	width int  // of the terminal; 80 if there is none
	zero  bool // names are raw, and a NUL ends each line: for programs
}

func newOutput(w io.Writer) *output {
	o := &output{Writer: bufio.NewWriterSize(w, 64<<10), width: 80}
	f, ok := w.(*os.File)
	o.file = f
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return o
	}
	o.tty = true
	o.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		o.width = width
	}
	return o
}

// printf prints. Whoever looks at a terminal sees each line when it is there.
func (o *output) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(o, format, args...)
	if err == nil && o.tty {
		err = o.Flush()
	}
	return err
}

// json prints v as one line.
func (o *output) json(v any) error {
	enc := json.NewEncoder(o)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err == nil && o.tty {
		err = o.Flush()
	}
	return err
}

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

// name makes a file's name fit for a line. One with control characters, which could pass for another line or steer a
// terminal, is quoted even in a pipe: a pager may be at its end. So is one that begins with a quote. On a terminal a
// name that is not UTF-8 is quoted too. --print0 gives the bytes.
func (o *output) name(s string) string {
	switch {
	case o.zero:
		return s
	case strings.HasPrefix(s, `"`), strings.ContainsFunc(s, unicode.IsControl), o.tty && !isPrintable(s):
		return strconv.Quote(s)
	}
	return s
}

// line prints one line, which ends with a NUL after --print0.
func (o *output) line(text string) error {
	if o.zero {
		_, err := o.WriteString(text + "\x00")
		return err
	}
	return o.printf("%s\n", text)
}

func isPrintable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// printable takes the control characters out of a message, which may quote a hostile name.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRune(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}

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

// base64Name gives the bytes of a name that JSON cannot hold; "" for others.
func base64Name(s string) string {
	if utf8.ValidString(s) {
		return ""
	}
	return base64.StdEncoding.EncodeToString([]byte(s))
}

// commandLine writes words so that a shell reads them back.
func commandLine(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shellQuote(w)
	}
	return strings.Join(quoted, " ")
}

func shellQuote(w string) string {
	safe := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./=@%+,:", r)
	}
	if w != "" && isPrintable(w) && !strings.ContainsFunc(w, func(r rune) bool { return !safe(r) }) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// plural counts things: "1 file", "2,345 files".
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return comma(n) + " " + many
}
