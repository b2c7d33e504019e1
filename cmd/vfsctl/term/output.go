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

	"golang.org/x/term"

	"vfsdb/cmd/vfsctl/human"
)

// An Output is standard output or standard error, and what is known of the terminal behind it.
type Output struct {
	*bufio.Writer
	file  *os.File // nil if it is none
	TTY   bool
	color bool
	Width int  // of the terminal; 80 if there is none
	Zero  bool // names are raw, and a NUL ends each line: for programs
}

func New(w io.Writer) *Output {
	o := &Output{Writer: bufio.NewWriterSize(w, 64<<10), Width: 80}
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

// Printf prints. Whoever looks at a terminal sees each line when it is there.
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

// Name makes a file's name fit for a line. One with control characters, which could pass for another line or steer a
// terminal, is quoted even in a pipe: a pager may be at its end. So is one that begins with a quote. On a terminal a
// name that is not UTF-8 is quoted too. --print0 gives the bytes.
func (o *Output) Name(s string) string {
	switch {
	case o.Zero:
		return s
	case strings.HasPrefix(s, `"`), strings.ContainsFunc(s, unicode.IsControl), o.TTY && !human.IsPrintable(s):
		return strconv.Quote(s)
	}
	return s
}

// Line prints one line, which ends with a NUL after --print0.
func (o *Output) Line(text string) error {
	if o.Zero {
		_, err := o.WriteString(text + "\x00")
		return err
	}
	return o.Printf("%s\n", text)
}

// Show is a name as a person sees it: coloured, and with a slash behind a directory.
func (o *Output) Show(name string, m fs.FileMode) string {
	shown := o.Paint(StyleOf(m), o.Name(name))
	if m.IsDir() && name != "." && !strings.HasSuffix(name, "/") {
		shown += "/"
	}
	return shown
}

// Field prints one line of a description.
func (o *Output) Field(name, value string) error {
	const width = 10
	pad := max(1, width-len(name))
	return o.Printf("%s%*s%s\n", o.Paint(Dim, name), pad, "", value)
}
