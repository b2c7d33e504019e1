package term

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
)

// Page sends what follows to the pager of the user, if a terminal is behind the output: $PAGER, or else less, which ends at
// once if one screen holds all. An empty $PAGER and cat are none. The function that it returns sends the rest, waits for the
// user, and ends the paging. If the pager does not start, missing says why, and what follows goes to the terminal.
//
// What the pager has not read yet is kept in memory: the writer never waits for the user.
func (o *Output) Page() (end func() error, missing error) {
	none := func() error { return nil }
	command := pager()
	if !o.TTY || command == nil {
		return none, nil
	}
	if err := runs(os.Getenv("PAGER")); err != nil {
		return none, err
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = o.file, os.Stderr, os.Environ()
	for name, value := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if _, set := os.LookupEnv(name); !set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	pipe, err := cmd.StdinPipe()
	if err == nil {
		err = o.Flush()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return none, err
	}

	q := newQueue(pipe)
	o.Reset(q)
	return func() error {
		err := o.Flush()
		if closed := q.Close(); err == nil {
			err = closed
		}
		_ = cmd.Wait() // how a pager ends is nobody's concern
		o.Reset(o.under)
		if errors.Is(err, syscall.EPIPE) {
			return nil // the user has seen enough
		}
		return err
	}, nil
}

// runs looks whether the shell finds the program of a pager. The shell would start in any case, and the text be lost. Of a
// command line that is more than words, the shell alone knows the program.
func runs(pager string) error {
	words := strings.Fields(pager)
	if len(words) == 0 || runtime.GOOS == "windows" || strings.ContainsAny(words[0], "|&;<>()$`\\\"'*?[]#~=%!{}") {
		return nil
	}
	if err := exec.Command("sh", "-c", `command -v -- "$1" >/dev/null`, "sh", words[0]).Run(); err != nil {
		return &exec.Error{Name: words[0], Err: exec.ErrNotFound}
	}
	return nil
}

// pager returns the command line of the pager, or nil.
func pager() []string {
	command, set := os.LookupEnv("PAGER")
	switch {
	case !set:
		if _, err := exec.LookPath("less"); err != nil {
			return nil
		}
		return []string{"less"}
	case strings.TrimSpace(command) == "", command == "cat":
		return nil
	case runtime.GOOS == "windows":
		return strings.Fields(command)
	}
	return []string{"sh", "-c", command}
}

// A queue passes on what is written to it. A write never waits.
type queue struct {
	mu      sync.Mutex
	more    *sync.Cond
	waiting bytes.Buffer
	closed  bool
	err     error // of the writer below
	done    chan struct{}
}

func newQueue(to io.WriteCloser) *queue {
	q := &queue{done: make(chan struct{})}
	q.more = sync.NewCond(&q.mu)
	go func() {
		defer close(q.done)
		defer to.Close()
		for {
			part := q.next()
			if part == nil {
				return
			}
			if _, err := to.Write(part); err != nil {
				q.mu.Lock()
				q.err = err
				q.mu.Unlock()
				return
			}
		}
	}()
	return q
}

// next waits for the bytes that were written last. After the last ones it is nil.
func (q *queue) next() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.waiting.Len() == 0 && !q.closed {
		q.more.Wait()
	}
	if q.waiting.Len() == 0 {
		return nil
	}
	return bytes.Clone(q.waiting.Next(q.waiting.Len()))
}

// Write takes the bytes, or fails if the writer below has.
func (q *queue) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return 0, q.err
	}
	q.more.Signal()
	return q.waiting.Write(p)
}

// Close waits until all is passed on.
func (q *queue) Close() error {
	q.mu.Lock()
	q.closed = true
	q.more.Signal()
	q.mu.Unlock()
	<-q.done
	return q.err
}
