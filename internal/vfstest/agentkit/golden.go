package agentkit

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/vfs"
)

var update = flag.Bool("update", false, "write the golden files in testdata/golden, for review")

// Golden compares v, as indented JSON, with testdata/golden/<name>.json, byte for byte.
func Golden(t *testing.T, name string, v any) {
	t.Helper()
	var got bytes.Buffer
	e := json.NewEncoder(&got)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	require.NoError(t, e.Encode(v))
	file := filepath.Join("testdata", "golden", name+".json")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, got.Bytes(), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "go test ./agent -run %s -update writes it", t.Name())
	require.Equal(t, string(want), got.String())
}

// Describe renders all that a client or a model reads about the tools of a box.
func Describe(b *tool.Toolbox) any {
	type offer struct {
		Name, Title, Description string
		Input                    *jsonschema.Schema
		Output                   *jsonschema.Schema `json:",omitempty"`
		Hints                    tool.Hints
		Risk                     tool.Risk
		Permissions              []policy.Permission
		SideEffects              []string `json:",omitempty"`
		Sequential               bool     `json:",omitempty"`
	}
	tools := []offer{}
	for _, t := range b.Tools() {
		tools = append(tools, offer{
			t.Name, t.Title, t.Description, t.Input, t.Output, t.Hints, t.Risk, t.Permissions, t.SideEffects, t.Sequential,
		})
	}
	return map[string]any{"prompt": b.Prompt(), "tools": tools}
}

// A Turn is one call of a script.
type Turn struct {
	Row  string // a name for the table
	Tool string
	Args Args
}

// An Outcome is a turn with its result.
type Outcome struct {
	Row   string `json:"row"`
	Tool  string `json:"tool"`
	Args  any    `json:"args,omitempty"`
	Errno string `json:"errno,omitempty"`
	Text  string `json:"text"`
	Data  any    `json:"data,omitempty"`
	Media any    `json:"media,omitempty"`
}

// Play runs a script, one call after the other.
func Play(t *testing.T, b *tool.Toolbox, script ...Turn) []Outcome {
	t.Helper()
	list := make([]Outcome, 0, len(script))
	for _, s := range script {
		r := Try(t, b, s.Tool, s.Args)
		p := Outcome{Row: s.Row, Tool: s.Tool, Args: s.Args, Text: r.Text, Data: r.Data}
		if s.Args == nil {
			p.Args = nil
		}

		if r.Err != nil {
			p.Errno = "none"
			if errno, ok := vfs.Errno(r.Err); ok {
				p.Errno = fmt.Sprint(errno)
			}
		}

		var media []string
		for _, m := range r.Media {
			media = append(media, m.MIMEType+" "+base64.StdEncoding.EncodeToString(m.Data))
		}
		if media != nil {
			p.Media = media
		}

		Conforms(t, b.Tool(s.Tool), r)
		list = append(list, p)
	}
	return list
}

// Conforms checks that a result matches the output schema of its tool.
func Conforms(t *testing.T, op *tool.Tool, r *tool.Result) {
	t.Helper()
	if op == nil || op.Output == nil || r.Err != nil {
		return
	}
	schema, err := op.Output.Resolve(nil)
	require.NoError(t, err)
	data, err := json.Marshal(r.Data)
	require.NoError(t, err)
	var v any
	require.NoError(t, json.Unmarshal(data, &v))
	require.NoError(t, schema.Validate(v), "%s: %s", op.Name, data)
}
