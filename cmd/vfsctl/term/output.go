package term

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"vfsdb/cmd/vfsctl/human"
)

// An Output is standard output or standard error, with the properties of the terminal behind it.
type Output struct {
	*bufio.Writer
	under io.Writer
	file  *os.File // nil if the writer is not a file
	TTY   bool
	color bool
	Width int  // of the terminal; 80 without one
	Zero  bool // after --print0: names are raw, and a NUL ends each line
}

// New looks at the file behind w. Colours are off if NO_COLOR is set or TERM is dumb.
func New(w io.Writer) *Output {
	o := &Output{Writer: bufio.NewWriterSize(w, 64<<10), under: w, Width: 80}
	f, ok := w.(*os.File)
	o.file = f
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return o
	}
	o.TTY = true
	o.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		o.Width = width
	}
	return o
}

// Colors reports whether texts are coloured.
func (o *Output) Colors() bool { return o.color }

// SetColors turns colours on or off, whatever is behind the output.
func (o *Output) SetColors(on bool) { o.color = on }

// Under returns the writer below the buffer, for a program that writes there itself.
func (o *Output) Under() io.Writer { return o.under }

// Printf prints. On a terminal the text is flushed at once.
func (o *Output) Printf(format string, args ...any) error {
	_, err := fmt.Fprintf(o, format, args...)
	if err == nil && o.TTY {
		err = o.Flush()
	}
	return err
}

// JSON prints v as one line.
func (o *Output) JSON(v any) error {
	enc := json.NewEncoder(o)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err == nil && o.TTY {
		err = o.Flush()
	}
	return err
}

// Name makes a file's name fit for a line. Control characters could pass for another line or steer a terminal, so a
// name with one is quoted, even in a pipe: a pager may be at its end. A name that begins with a quote is quoted as
// well, and on a terminal one that is not UTF-8. After --print0 the name is returned as it is.
func (o *Output) Name(s string) string {
	switch {
	case o.Zero:
		return s
	case strings.HasPrefix(s, `"`), strings.ContainsFunc(s, unicode.IsControl), o.TTY && !human.IsPrintable(s):
		return strconv.Quote(s)
	}
	return s
}

// Fit shortens a text that stands behind used columns of a line, so that the line fits on the terminal. Where there is no
// room for some letters the text is empty. A pipe gets the whole text.
func (o *Output) Fit(text string, used int) string {
	const dots, least = "...", 8
	room := o.Width - used
	switch {
	case !o.TTY || runewidth.StringWidth(text) <= room:
		return text
	case room < least:
		return ""
	}
	return runewidth.Truncate(text, room, dots)
}

// Line prints one line. After --print0 it ends with a NUL.
func (o *Output) Line(text string) error {
	if o.Zero {
		_, err := o.WriteString(text + "\x00")
		return err
	}
	return o.Printf("%s\n", text)
}

// Show makes a file's name fit for a person: coloured by its type, and with a slash behind a directory.
func (o *Output) Show(name string, m fs.FileMode) string {
	shown := o.Paint(StyleOf(m), o.Name(name))
	if m.IsDir() && name != "." && !strings.HasSuffix(name, "/") {
		shown += "/"
	}
	return shown
}

// field prints one line of a description: a name and its value.
func (o *Output) field(name, value string) error {
	const width = 10
	pad := max(1, width-len(name))
	return o.Printf("%s%*s%s\n", o.Paint(Dim, name), pad, "", value)
}

// Fields prints the lines of a description, each a name and its value. A field without a value is left out.
func (o *Output) Fields(fields ...[2]string) error {
	for _, f := range fields {
		if f[1] == "" {
			continue
		}
		if err := o.field(f[0], f[1]); err != nil {
			return err
		}
	}
	return nil
}

// Text prints a text of several lines for people, indented by four columns as in git show.
func (o *Output) Text(text string) error {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		if err := o.Printf("%s\n", strings.TrimRight("    "+Shown(line), " ")); err != nil {
			return err
		}
	}
	return nil
}

// Shown makes a line of a text fit for people, without its line break. Control characters other than tabs could steer a
// terminal: they become U+FFFD.
func Shown(line string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, strings.TrimRight(line, "\r\n"))
}
