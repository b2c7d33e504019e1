package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"vfsdb/cmd/vfsctl/cli"
)

// A session is one run of the shell.
type session struct {
	*cli.Shell
	app       *cli.App
	in        io.Reader // of commands
	out, errs io.Writer
}

// script runs lines until one fails. The exit code is that of the last command.
func (s *session) script(ctx context.Context, lines io.Reader) error {
	in := bufio.NewReader(lines)
	var typed strings.Builder
	number, open := 0, ""
	for !s.Ended {
		line, err := in.ReadString('\n')
		if err != nil && err != io.EOF {
			return err
		}
		last := err == io.EOF
		typed.WriteString(line)
		if !last {
			number++
			if open != "" && !strings.Contains(line, open) {
				continue // of a quote that is long, each line is read once
			}
		}

		text := typed.String()
		steps, more, err := parse(text)
		switch {
		case more && !last:
			open = openQuote(text)
			continue
		case err != nil:
			return &cli.UsageError{Err: fmt.Errorf("line %d: %w", max(1, number), err), Try: "vfsctl shell --help"}
		}
		if code := s.run(ctx, steps); code != cli.ExitOK {
			return code
		}
		if typed.Reset(); last {
			break
		}
		open = ""
	}
	return nil
}

// openQuote returns the quote that a text which is incomplete needs at its end, or "" if it needs something else.
func openQuote(text string) string {
	for _, quote := range []string{"'", `"`} {
		if _, more, _ := parse(text + quote); !more {
			return quote
		}
	}
	return ""
}

// run runs steps until one fails, and returns its exit code.
func (s *session) run(ctx context.Context, steps []*step) (code cli.Exit) {
	for _, st := range steps {
		if code = s.step(ctx, st); code != cli.ExitOK || s.Ended {
			break
		}
	}
	return code
}

func (s *session) step(ctx context.Context, st *step) cli.Exit {
	switch {
	case st.first != nil:
		code := s.step(ctx, st.first)
		if s.Ended || st.or == (code == cli.ExitOK) || code == cli.ExitInterrupted {
			return code
		}
		return s.step(ctx, st.second)
	case st.words == nil:
		return s.host(ctx, st.host, s.in)
	case st.host != "":
		return s.pipe(ctx, st)
	}
	return s.Run(ctx, st.words, s.in, s.out, s.errs)
}

// pipe runs a command, and lets the host read its output. The exit code is that of the host's part.
func (s *session) pipe(ctx context.Context, st *step) cli.Exit {
	r, w, err := os.Pipe()
	if err != nil {
		return s.fail(err)
	}
	ended := make(chan cli.Exit)
	go func() {
		code := s.host(ctx, st.host, r)
		r.Close() // then the writer knows that nobody reads any more
		ended <- code
	}()

	code := s.Run(ctx, st.words, s.in, w, s.errs)
	w.Close()
	if host := <-ended; code != cli.ExitInterrupted {
		code = host
	}
	return code
}

// host runs a command of the host's shell.
func (s *session) host(ctx context.Context, command string, in io.Reader) cli.Exit {
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/C"}
	}
	cmd := exec.Command(shell[0], shell[1], command)
	cmd.Stdout, cmd.Stderr = s.out, s.errs
	if in = cli.HostInput(in); in != (taken{}) {
		cmd.Stdin = in
	}

	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE) // the command would inherit that it is ignored
	err := cmd.Start()
	signal.Stop(pipes)
	signal.Ignore(syscall.SIGPIPE)
	if err == nil {
		// The terminal tells the command too, but not if it has not begun yet.
		stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(os.Interrupt) })
		err = cmd.Wait()
		stop()
	}

	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return cli.ExitInterrupted
	case errors.As(err, &exit):
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return cli.Exit(128 + int(status.Signal())) // as for sh
		}
		return cli.Exit(exit.ExitCode())
	case err != nil:
		return s.fail(err)
	}
	return cli.ExitOK
}

// fail reports an error of the shell itself.
func (s *session) fail(err error) cli.Exit {
	s.app.Warn("%v", err)
	return cli.CodeOf(err)
}

// prompt returns the prompt: where commands stand. A long path is cut at its front.
func (s *session) prompt(width int) string {
	at := s.Branch
	if s.At != "" {
		at = s.At
	}
	return fit(at, s.Dir, width)
}

// taken is the standard input of commands in a script, which has the script itself.
type taken struct{}

func (taken) Read([]byte) (int, error) {
	return 0, fmt.Errorf("standard input has the commands of the shell: %w", syscall.EBADF)
}

// blank reports whether a line has nothing to run.
func blank(line string) bool { return strings.TrimSpace(line) == "" }
