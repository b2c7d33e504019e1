package tool

import (
	"context"
	"encoding/json"
	"sync"

	"vfsdb/agent/tool/params"
	"vfsdb/agent/tool/retry"
)

// Steps runs a call in several transactions, one after the other. They are one step to take back.
type Steps struct {
	box   *Toolbox
	tool  string
	begun bool
}

// InSteps defines a tool of several transactions, which does what all of the kinds do. run makes the whole result,
// also that of a call that failed.
func InSteps[In, Out any](name, description string, kinds []Kind, run func(context.Context, *Steps, In) (*Result, error), tweaks ...Tweak) *Tool {
	t := define[In, Out](name, description, kinds[0], tweaks, func(ctx context.Context, b *Toolbox, in In) (*Result, error) {
		return run(ctx, &Steps{box: b, tool: name}, in)
	})
	for _, k := range kinds {
		t.worsen(traitsOf[k])
	}
	return t
}

// Change runs one transaction. While the store is busy it is tried again.
func (s *Steps) Change(ctx context.Context, run func(*Guard) error) error {
	transact := s.box.updating(s.tool)
	if s.begun {
		transact = s.box.continuing()
	}
	_, err := retry.Busy(ctx, func() (*Result, error) {
		return s.box.within(ctx, transact, func(g *Guard) (any, error) { return Text(""), run(g) })
	})
	s.begun = s.begun || err == nil
	return err
}

// Explain returns the text of an error for the model.
func (s *Steps) Explain(err error) string { return s.box.failed(err).Text }

// Step makes the change of a tool a part of another tool, which puts several together in its own transaction. It
// checks the arguments as the tool does.
func Step[In, Out any](name string, run func(*Guard, In) (Out, error)) func(*Guard, json.RawMessage) (any, error) {
	checked := sync.OnceValue(func() *Tool { // a program that calls no tool has nothing to wait for
		input := params.SchemaFor[In]()
		input.AdditionalProperties = params.Nothing()
		t := &Tool{Name: name}
		t.checks(input)
		return t
	})
	return func(g *Guard, args json.RawMessage) (any, error) {
		in, err := decode[In](checked(), args)
		if err != nil {
			return nil, err
		}
		return run(g, in)
	}
}
