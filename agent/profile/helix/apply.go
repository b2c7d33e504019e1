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
		of := one.(tool.PartsResult).Parts()
		of[0].Line = fmt.Sprintf("%d: %s", i+1, of[0].Line)
		all = append(all, of...)
	}
	return all
}

// resultsAreObjects gives each result the type object in the schema. The schema of Go's any has none.
func resultsAreObjects(t *tool.Tool) {
	t.Output.Properties["results"].Items = &jsonschema.Schema{Type: "object"}
}

// steps are the tools that apply can put together: those that change the tree inside one transaction.
var steps = map[string]func(*tool.Guard, json.RawMessage) (any, error){
	"write_file":   tool.Step("write_file", writeFile),
	"append_file":  tool.Step("append_file", appendFile),
	"edit_file":    tool.Step("edit_file", editFile),
	"insert_lines": tool.Step("insert_lines", insertLines),
	"mkdir":        tool.Step("mkdir", mkdir),
	"rm":           tool.Step("rm", rm),
	"mv":           tool.Step("mv", mv),
	"cp":           tool.Step("cp", cp),
}

// operate does one operation, if its tool was chosen.
func operate(g *tool.Guard, op operation) (any, error) {
	if err := g.Chosen(op.Tool); err != nil {
		return nil, err
	}
	return steps[op.Tool](g, op.Args)
}

// apply does several operations in one commit, or none.
func apply(g *tool.Guard, in applyIn) (applyOut, error) {
	out := applyOut{OK: true, Results: []any{}}
	for i, op := range in.Operations {
		if err := g.Context().Err(); err != nil {
			return out, err
		}
		one, err := operate(g, op)
		if err != nil {
			return out, &tool.OperationError{Index: i, Of: len(in.Operations), Tool: op.Tool, Err: err}
		}
		if edited, ok := one.(editOut); ok { // the cap is one for all of them together
			g = g.Within(max(0, g.Caps().ResultBytes-len(edited.Preview)))
		}
		out.Results = append(out.Results, one)
	}
	return out, nil
}
