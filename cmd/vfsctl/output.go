package main

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

// show is a name as a person sees it: coloured, and with a slash behind a directory.
func (o *output) show(name string, m fs.FileMode) string {
	shown := o.paint(styleOf(m), o.name(name))
	if m.IsDir() && name != "." && !strings.HasSuffix(name, "/") {
		shown += "/"
	}
	return shown
}

// field prints one line of a description.
func (o *output) field(name, value string) error {
	const width = 10
	pad := max(1, width-len(name))
	return o.printf("%s%*s%s\n", o.paint(dim, name), pad, "", value)
}
