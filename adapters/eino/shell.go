package einofs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/schema"

	"vfsdb/run"
	"vfsdb/vfs"
)

// ShellOptions say how commands run. A nil *ShellOptions is the zero value.
type ShellOptions struct {
	// Run are the options of each command: a time limit, a network of its own, confinement. Without CleanEnv a command gets
	// all variables of this process, secrets included. See [run.Options].
	Run run.Options

	// MaxOutput is the most bytes of output that are returned; the rest is dropped, and no character is cut. 0 is 100,000.
	MaxOutput int
}

// defaultOutput is the default of MaxOutput.
const defaultOutput = 100_000

// A Shell runs the commands of an agent in a branch, with sh of the host. Each sees the branch as its working directory,
// and what it changed there is one commit at its end, see package run. It is no sandbox unless its options make it one.
type Shell struct {
	fsys    *vfs.FS
	options ShellOptions
}

var (
	_ filesystem.Shell          = (*Shell)(nil)
	_ filesystem.StreamingShell = (*Shell)(nil)
)

// NewShell returns a Shell over the head of a branch.
func NewShell(fsys *vfs.FS, o *ShellOptions) *Shell {
	s := &Shell{fsys: fsys}
	if o != nil {
		s.options = *o
	}
	if s.options.MaxOutput <= 0 {
		s.options.MaxOutput = defaultOutput
	}
	return s
}

// Execute runs a command and returns its output, standard error included, and its exit code. An exit code other than 0 is
// no error. If the branch was changed meanwhile, both are merged, and the output ends with the files in conflict. To run
// in the background is ENOTSUP.
func (s *Shell) Execute(ctx context.Context, r *filesystem.ExecuteRequest) (*filesystem.ExecuteResponse, error) {
	var text []byte
	answer, err := s.run(ctx, r, func(p []byte) bool {
		text = append(text, p...)
		return true
	})
	if err != nil {
		return nil, err
	}
	answer.Output = string(text) + answer.Output
	return answer, nil
}

// ExecuteStreaming is Execute, but returns the output as it comes, in whole characters. The last part has the exit code. A reader that closes
// the stream ends the command.
func (s *Shell) ExecuteStreaming(ctx context.Context, r *filesystem.ExecuteRequest) (*schema.StreamReader[*filesystem.ExecuteResponse], error) {
	if r.RunInBackendGround {
		return nil, errBackground(r)
	}
	out, in := schema.Pipe[*filesystem.ExecuteResponse](16)
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		defer in.Close()
		answer, err := s.run(ctx, r, func(p []byte) bool {
			closed := in.Send(&filesystem.ExecuteResponse{Output: string(p)}, nil)
			if closed {
				cancel()
			}
			return !closed
		})
		in.Send(answer, err)
	}()
	return out, nil
}

func errBackground(r *filesystem.ExecuteRequest) error {
	return fmt.Errorf("execute %q: a command cannot run in the background, because its changes are brought back at its end: %w", r.Command, syscall.ENOTSUP)
}

// run runs a command and sends its output in parts, as long as these are wanted. Its answer has no output but notes.
func (s *Shell) run(ctx context.Context, r *filesystem.ExecuteRequest, send func([]byte) bool) (*filesystem.ExecuteResponse, error) {
	if r.RunInBackendGround {
		return nil, errBackground(r)
	}
	out := &output{left: s.options.MaxOutput, send: send}
	cmd := run.Command(ctx, s.fsys, s.options.Run, "sh", "-c", r.Command)
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	out.end()

	answer := &filesystem.ExecuteResponse{Truncated: out.cut()}
	var exit *run.ExitError
	var moved *run.MovedError
	var conflict *run.ConflictError
	if errors.As(err, &moved) {
		answer.Output = fmt.Sprintf("\n[What the command changed could not come into the branch, and is in the branch %s]", moved.Branch)
	} else if errors.As(err, &conflict) {
		answer.Output = fmt.Sprintf("\n[Others changed the same files meanwhile, and these stay as the others have them: %s]", strings.Join(conflict.Paths, ", "))
	} else if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	answer.ExitCode = &cmd.Result.ExitCode
	return answer, nil
}

// An output takes what a command writes, up to a bound, and sends it in parts that end with a whole character.
type output struct {
	mu        sync.Mutex
	left      int
	truncated bool
	begun     []byte // of a character whose other bytes come later
	send      func([]byte) bool
}

// Write sends what there is room for, and takes the rest too: a command is not ended by the bound of its output.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := append(o.begun, p...)
	whole := wholeRunes(text)
	o.pass(text[:whole])
	o.begun = slices.Clone(text[whole:])
	return len(p), nil
}

// pass sends the characters that there is room for.
func (o *output) pass(text []byte) {
	part := text
	if len(text) > o.left {
		part = text[:wholeRunes(text[:o.left])]
		o.left, o.truncated = len(part), true
	}
	o.left -= len(part)
	if len(part) > 0 && !o.send(part) {
		o.left = 0
	}
}

// end sends the bytes of a character that never became whole.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pass(o.begun)
	o.begun = nil
}

// wholeRunes returns how long a text is without the character at its end whose other bytes are missing.
func wholeRunes(text []byte) int {
	for n := len(text) - 1; n >= 0 && n >= len(text)-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			if !utf8.FullRune(text[n:]) {
				return n
			}
			break
		}
	}
	return len(text)
}

func (o *output) cut() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.truncated
}
