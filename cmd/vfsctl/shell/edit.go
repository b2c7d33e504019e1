package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"unicode"

	"github.com/mattn/go-runewidth"
	"github.com/peterh/liner"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/term"
)

// An editor reads lines from the terminal. From line to line the terminal does not show what is typed: the next line shows it. Only
// programs of the host have the terminal as it was before.
type editor struct {
	line        *liner.State
	raw, cooked liner.ModeApplier

	mu      sync.Mutex
	waiting chan answer // for the line that is being typed, or nil
}

// An answer is a line that was typed.
type answer struct {
	line string
	err  error
}

func newEditor() (*editor, error) {
	cooked, err := liner.TerminalMode()
	if err != nil {
		return nil, err
	}
	e := &editor{line: liner.NewLiner(), cooked: cooked}
	e.line.SetCtrlCAborts(true)
	e.line.SetTabCompletionStyle(liner.TabPrints)
	e.line.SetBeep(false)
	e.raw, err = liner.TerminalMode()
	return e, err
}

// read reads a line. At Ctrl-C the error is [liner.ErrPromptAborted], at Ctrl-D [io.EOF], and when the context ends that of the
// context. The line that is being typed then goes to the next reader.
func (e *editor) read(ctx context.Context, prompt string) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := cmp.Or(ctx.Err(), e.raw.ApplyMode()); err != nil {
		return "", err
	}
	if e.waiting == nil {
		e.waiting = make(chan answer, 1)
		go func(to chan<- answer) {
			line, err := e.line.Prompt(prompt)
			to <- answer{line, err}
		}(e.waiting)
	} else if _, err := io.WriteString(os.Stdout, prompt); err != nil {
		return "", err
	}

	select {
	case a := <-e.waiting:
		e.waiting = nil
		return a.line, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// interact runs what the user types, until the user ends the shell.
func (s *session) interact(c *cli.Call) error {
	ctx, stop := signal.NotifyContext(context.WithoutCancel(c), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt) // ends a command, and not the shell
	defer signal.Stop(interrupts)

	e, err := newEditor()
	if err != nil {
		return err
	}
	defer e.line.Close()
	e.line.SetWordCompleter(s.complete)
	kept, err := newMemory()
	if err == nil {
		err = s.recall(e, kept)
	}
	if err != nil {
		s.app.Warn("lines are not remembered: %v", err)
	}
	remember := err == nil

	text := ""
	for !s.Ended {
		prompt := s.prompt(term.New(s.out).Width) // a terminal changes its size
		if text != "" {
			prompt = "> "
		}
		line, err := e.read(ctx, prompt)
		switch {
		case ctx.Err() != nil:
			return cli.ExitInterrupted
		case errors.Is(err, liner.ErrPromptAborted):
			text = ""
			continue
		case errors.Is(err, io.EOF):
			return s.errln()
		case err != nil:
			return fmt.Errorf("read the terminal: %v", err) // without its errno, which would pass for one of the store
		}
		if remembered(line) {
			e.line.AppendHistory(line)
			if remember {
				if err := kept.add(line); err != nil {
					s.app.Warn("lines are not remembered: %v", err)
					remember = false
				}
			}
		}

		text += line + "\n"
		steps, more, err := parse(text)
		if more {
			continue
		}
		text = ""
		if err != nil {
			s.app.Warn("%v", err)
			continue
		}
		s.runInterruptibly(ctx, interrupts, e, steps)
	}
	return nil
}

// recall gives the lines that are remembered to the editor.
func (s *session) recall(e *editor, kept memory) error {
	lines, err := kept.load()
	for _, line := range lines {
		e.line.AppendHistory(line)
	}
	return err
}

// runInterruptibly runs steps, which Ctrl-C ends. What they read from standard input is typed.
func (s *session) runInterruptibly(ctx context.Context, interrupts <-chan os.Signal, e *editor, steps []*step) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	select {
	case <-interrupts: // of before
	default:
	}
	go func() {
		select {
		case <-interrupts:
			cancel()
		case <-ctx.Done():
		}
	}()
	s.in = &typist{ctx: ctx, cancel: cancel, e: e}
	s.run(ctx, steps)
}

// errln ends the line of the prompt.
func (s *session) errln() error {
	_, err := io.WriteString(s.errs, "\n")
	return err
}

// A typist is standard input at a terminal, for one line of commands. A command that is interrupted must not go on reading: it would
// take the next line from the shell. So the editor reads for it. Programs of the host get the terminal itself.
type typist struct {
	ctx    context.Context
	cancel context.CancelFunc
	e      *editor
	rest   []byte
	ended  bool
}

// Host returns the terminal, for a program of the host.
func (t *typist) Host() *os.File {
	_ = t.e.cooked.ApplyMode()
	return os.Stdin
}

func (t *typist) Read(p []byte) (int, error) {
	for len(t.rest) == 0 {
		if t.ended {
			return 0, io.EOF
		}
		line, err := t.e.read(t.ctx, "")
		switch {
		case errors.Is(err, io.EOF):
			t.ended = true
			continue
		case err != nil: // Ctrl-C is a key here
			t.cancel()
			return 0, context.Canceled
		}
		t.rest = []byte(line + "\n")
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

// fit writes a prompt that leaves half of a line to the user. A path that is long is cut at its front.
func fit(at, dir string, width int) string {
	shown := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, at+":"+dir)
	if over := runewidth.StringWidth(shown) - width/2; over > 0 {
		shown = runewidth.TruncateLeft(shown, over+3, "...")
	}
	return shown + "> "
}
