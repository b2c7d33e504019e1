package agent_test

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

	"vfsdb/agent"
	"vfsdb/vfs"
)

var update = flag.Bool("update", false, "write the golden files in testdata/golden, for review")

// golden compares v, as indented JSON, with testdata/golden/<name>.json, byte for byte.
func golden(t *testing.T, name string, v any) {
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

// describe renders everything that a client or a model is told about the tools of a box.
func describe(b *agent.Toolbox) any {
	type tool struct {
		Name, Title, Description string
		Input                    *jsonschema.Schema
		Output                   *jsonschema.Schema `json:",omitempty"`
		Hints                    agent.Hints
		Risk                     agent.Risk
		Permissions              []agent.Permission
		SideEffects              []string `json:",omitempty"`
		Sequential               bool     `json:",omitempty"`
	}
	tools := []tool{}
	for _, t := range b.Tools() {
		tools = append(tools, tool{
			t.Name, t.Title, t.Description, t.Input, t.Output, t.Hints, t.Risk, t.Permissions, t.SideEffects, t.Sequential,
		})
	}
	return map[string]any{"prompt": b.Prompt(), "tools": tools}
}

// A turn is one call of a script.
type turn struct {
	row  string // what it shows
	tool string
	args args
}

// A played turn is a call with all that it gave.
type played struct {
	Row   string `json:"row"`
	Tool  string `json:"tool"`
	Args  any    `json:"args,omitempty"`
	Errno string `json:"errno,omitempty"`
	Text  string `json:"text"`
	Data  any    `json:"data,omitempty"`
	Media any    `json:"media,omitempty"`
}

// play runs a script, one call after the other.
func play(t *testing.T, b *agent.Toolbox, script ...turn) []played {
	t.Helper()
	list := make([]played, 0, len(script))
	for _, s := range script {
		r := try(t, b, s.tool, s.args)
		p := played{Row: s.row, Tool: s.tool, Args: s.args, Text: r.Text, Data: r.Data}
		if s.args == nil {
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
		conforms(t, b.Tool(s.tool), r)
		list = append(list, p)
	}
	return list
}

// conforms checks that a result is what the tool's output schema says.
func conforms(t *testing.T, tool *agent.Tool, r *agent.Result) {
	t.Helper()
	if tool == nil || tool.Output == nil || r.Err != nil {
		return
	}
	schema, err := tool.Output.Resolve(nil)
	require.NoError(t, err)
	data, err := json.Marshal(r.Data)
	require.NoError(t, err)
	var v any
	require.NoError(t, json.Unmarshal(data, &v))
	require.NoError(t, schema.Validate(v), "%s: %s", tool.Name, data)
}
