package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"vfsdb/agent"
	"vfsdb/agent/tool"
	"vfsdb/vfs"
)

// An Agent takes the calls of a test: a [*tool.Toolbox] or an [*agent.Session].
type Agent interface {
	Do(ctx context.Context, call tool.Call) *tool.Result
}

// Toolbox makes the tools of a config over a store. Their changes are in that store.
func Toolbox(t testing.TB, fsys *vfs.FS, config *tool.Config) *tool.Toolbox {
	t.Helper()
	box, err := agent.New(fsys, config)
	if err != nil {
		t.Fatalf("agenttest: %v", err)
	}
	return box
}

// Session opens a session of a name over a store; it is closed at the end of the test. Its branch is forked from that
// of fsys, unless the options say where it starts.
func Session(t testing.TB, fsys *vfs.FS, name string, options *agent.SessionOptions) *agent.Session {
	t.Helper()
	var o agent.SessionOptions
	if options != nil {
		o = *options
	}
	if o.From == "" {
		o.From = fsys.Head()
	}
	s, err := agent.Open(agent.StoreOf(fsys), name, &o)
	if err != nil {
		t.Fatalf("agenttest: %v", err)
	}
	t.Cleanup(func() {
		t.Helper()
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("agenttest: close session %s: %v", name, err)
		}
	})
	return s
}

// Tree returns the branch that a session works on. It opens the session.
func Tree(t testing.TB, s *agent.Session) *vfs.FS {
	t.Helper()
	box, err := s.Toolbox(t.Context())
	if err != nil {
		t.Fatalf("agenttest: %v", err)
	}
	return box.FS()
}

// Call makes one call, which has to succeed. The input is anything that encodes to a JSON object; nil is no arguments.
func Call(t testing.TB, a Agent, op string, input any) *tool.Result {
	t.Helper()
	call := tool.Call{Tool: op, Input: encode(t, op, input)}
	r := a.Do(t.Context(), call)
	if r.Err != nil {
		t.Fatalf("agenttest: %s %s: %v\n%s", op, call.Input, r.Err, r.Text)
	}
	return r
}

func encode(t testing.TB, op string, input any) json.RawMessage {
	t.Helper()
	if input == nil {
		return nil
	}
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatalf("agenttest: input of %s: %v", op, err)
	}
	return data
}

// Decode reads the structured result of a call, which has to have one, as a T.
func Decode[T any](t testing.TB, r *tool.Result) T {
	t.Helper()
	var out T
	data, err := json.Marshal(r.Data)
	if err == nil && r.Data == nil {
		err = errors.New("the tool answers in text alone")
	}
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatalf("agenttest: structured result: %v", err)
	}
	return out
}

// A Step is one call of a script.
type Step struct {
	Tool  string
	Input any    // as [Call] takes it
	Want  string // a part of the text that the model reads; "" is any text
	Err   error  // the error of the call, in the sense of errors.Is; nil if it has to succeed
}

// Run makes the calls of a script in order. It fails the test if a result differs from its step, and goes on with the
// next call. It returns the transcript: for each call the tool, its input, and the text that the model reads.
func Run(t testing.TB, a Agent, script ...Step) (transcript string) {
	t.Helper()
	var b strings.Builder
	for i, step := range script {
		input := encode(t, step.Tool, step.Input)
		r := a.Do(t.Context(), tool.Call{ID: fmt.Sprintf("step-%d", i+1), Tool: step.Tool, Input: input})
		fmt.Fprintf(&b, "> %s %s\n%s\n", step.Tool, input, strings.TrimSuffix(r.Text, "\n"))
		if why := step.differs(r); why != "" {
			t.Errorf("agenttest: step %d, %s %s: %s\n%s", i+1, step.Tool, input, why, r.Text)
		}
	}
	return b.String()
}

// differs returns the difference of a result from the step, or "".
func (s Step) differs(r *tool.Result) string {
	switch {
	case s.Err == nil && r.Err != nil:
		return fmt.Sprintf("failed: %v", r.Err)
	case s.Err != nil && r.Err == nil:
		return fmt.Sprintf("succeeded, and should have failed: %v", s.Err)
	case !errors.Is(r.Err, s.Err):
		return fmt.Sprintf("failed: %v; and should have: %v", r.Err, s.Err)
	case !strings.Contains(r.Text, s.Want):
		return fmt.Sprintf("there is no %q in it", s.Want)
	}
	return ""
}
