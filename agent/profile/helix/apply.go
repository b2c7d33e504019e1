package helix

import (
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"vfsdb/agent/tool"
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

func (o applyOut) Parts() []tool.Part {
	all := []tool.Part{}
	for i, one := range o.Results {
		of := one.(tool.Parted).Parts()
		of[0].Line = fmt.Sprintf("%d: %s", i+1, of[0].Line)
		all = append(all, of...)
	}
	return all
}

// resultsAreObjects says of each result what Go's any does not.
func resultsAreObjects(t *tool.Tool) {
	t.Output.Properties["results"].Items = &jsonschema.Schema{Type: "object"}
}

// steps are the tools that apply can put together: those that change the tree inside one transaction.
var steps = map[string]func(*tool.Guard, json.RawMessage) (any, error){
	"write_file":   step("write_file", writeFile),
	"append_file":  step("append_file", appendFile),
	"edit_file":    step("edit_file", editFile),
	"insert_lines": step("insert_lines", insertLines),
	"mkdir":        step("mkdir", mkdir),
	"rm":           step("rm", rm),
	"mv":           step("mv", mv),
	"cp":           step("cp", cp),
}

func step[In, Out any](name string, run func(*tool.Guard, In) (Out, error)) func(*tool.Guard, json.RawMessage) (any, error) {
	input := tool.SchemaFor[In]()
	input.AdditionalProperties = tool.Nothing()
	t := &tool.Tool{Name: name}
	t.Checks(input)
	return func(g *tool.Guard, args json.RawMessage) (any, error) {
		in, err := tool.Decode[In](t, args)
		if err != nil {
			return nil, err
		}
		return run(g, in)
	}
}

// step does one operation, if its tool is one that was chosen.
func operate(g *tool.Guard, op operation) (any, error) {
	name := prefix(g.Box) + op.Tool
	if g.Box.Missing[name] == tool.NotChosen {
		return nil, g.Box.NoTool(name)
	}
	return steps[op.Tool](g, op.Args)
}

// apply does several operations in one commit, or none.
func apply(g *tool.Guard, in applyIn) (applyOut, error) {
	out := applyOut{OK: true, Results: []any{}}
	box := *g.Box
	g.Box = &box
	for i, op := range in.Operations {
		if err := g.Ctx.Err(); err != nil {
			return out, err
		}
		one, err := operate(g, op)
		if err != nil {
			return out, &tool.OperationError{Index: i, Of: len(in.Operations), Tool: op.Tool, Err: err}
		}
		if edited, ok := one.(editOut); ok { // the cap is one for all of them together
			box.Caps.ResultBytes = max(0, box.Caps.ResultBytes-len(edited.Preview))
		}
		out.Results = append(out.Results, one)
	}
	return out, nil
}
