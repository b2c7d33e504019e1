package agent

import (
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

type applyIn struct {
	Operations []operation `json:"operations"`
}

type operation struct {
	Tool string          `json:"tool" enum:"write_file,append_file,edit_file,insert_lines,mkdir,rm,mv,cp"`
	Args json.RawMessage `json:"args"`
}

type applyOut struct {
	OK      bool  `json:"ok"`
	Results []any `json:"results" jsonschema:"one for each operation"`
}

func (o applyOut) parts() []part {
	all := []part{}
	for i, one := range o.Results {
		of := one.(parted).parts()
		of[0].line = fmt.Sprintf("%d: %s", i+1, of[0].line)
		all = append(all, of...)
	}
	return all
}

// resultsAreObjects says of each result what Go's any does not.
func resultsAreObjects(t *Tool) {
	t.Output.Properties["results"].Items = &jsonschema.Schema{Type: "object"}
}

// An OperationError is the operation of apply that failed; none of them happened.
type OperationError struct {
	Index, Of int // which of how many, from 0
	Tool      string
	Err       error
}

func (e *OperationError) Error() string {
	return fmt.Sprintf("operation %d of %d (%s): %v", e.Index+1, e.Of, e.Tool, e.Err)
}

// Unwrap returns why it failed.
func (e *OperationError) Unwrap() error { return e.Err }

// steps are the tools that apply can put together: those that change the tree inside one transaction.
var steps = map[string]func(*guard, json.RawMessage) (any, error){
	"write_file":   step("write_file", writeFile),
	"append_file":  step("append_file", appendFile),
	"edit_file":    step("edit_file", editFile),
	"insert_lines": step("insert_lines", insertLines),
	"mkdir":        step("mkdir", mkdir),
	"rm":           step("rm", rm),
	"mv":           step("mv", mv),
	"cp":           step("cp", cp),
}

func step[In, Out any](name string, run func(*guard, In) (Out, error)) func(*guard, json.RawMessage) (any, error) {
	input := schemaFor[In]()
	input.AdditionalProperties = nothing()
	t := &Tool{Name: name}
	t.checks(input)
	return func(g *guard, args json.RawMessage) (any, error) {
		in, err := decode[In](t, args)
		if err != nil {
			return nil, err
		}
		return run(g, in)
	}
}

// step does one operation, if its tool is one that was chosen.
func (g *guard) step(op operation) (any, error) {
	name := helixPrefix(g.box) + op.Tool
	if g.box.missing[name] == notChosen {
		return nil, g.box.noTool(name)
	}
	return steps[op.Tool](g, op.Args)
}

// apply does several operations in one commit, or none.
func apply(g *guard, in applyIn) (applyOut, error) {
	out := applyOut{OK: true, Results: []any{}}
	box := *g.box
	g.box = &box
	for i, op := range in.Operations {
		if err := g.ctx.Err(); err != nil {
			return out, err
		}
		one, err := g.step(op)
		if err != nil {
			return out, &OperationError{i, len(in.Operations), op.Tool, err}
		}
		if edited, ok := one.(editOut); ok { // the cap is one for all of them together
			box.caps.ResultBytes = max(0, box.caps.ResultBytes-len(edited.Preview))
		}
		out.Results = append(out.Results, one)
	}
	return out, nil
}
