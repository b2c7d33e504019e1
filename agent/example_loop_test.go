package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"vfsdb/agent"
	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A turn of a model, as its provider's API returns it. Here it is a script, so that no model is needed.
type toolUse struct{ id, tool, input string }

var script = []toolUse{
	{"t1", "workspace_read_file", `{"path":"/main.go"}`},
	{"t2", "workspace_edit_file", `{"path":"/main.go","oldText":":8080","newText":":9090"}`},
	{"t3", "workspace_write_file", `{"path":"/notes.md","content":"The port is 9090 now.\n"}`},
	{"t4", "workspace_rm", `{"path":"/"}`},
}

func loop(ctx context.Context, file string) (err error) {
	fsys, err := vfs.Open(ctx, file, nil)
	if err != nil {
		return err
	}
	defer fsys.Close()
	if err := fsys.WriteFile(ctx, "main.go", []byte(`const addr = ":8080"`+"\n"), 0o644); err != nil {
		return err
	}
	s, err := agent.Open(agent.StoreOf(fsys), "", &agent.SessionOptions{ // a name would resume the session of that name
		From:   vfs.MainBranch,
		Auto:   agent.EachCall, // a snapshot before each call that changes something, so that Undo can go back
		Config: tool.Config{Policy: &policy.Policy{MaxFileSize: 1 << 20, MaxBytes: 50 << 20}},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close(ctx)) }()
	box, err := s.Toolbox(ctx) // box.Tools() and box.Prompt() are for the model's API
	if err != nil {
		return err
	}
	for _, use := range script { // for use := range model.Turns(...)
		result := s.Do(ctx, tool.Call{ID: use.id, Tool: use.tool, Input: json.RawMessage(use.input)})
		fmt.Printf("%s: %t\n", use.tool, result.Err == nil) // result.Text goes back to the model
	}
	if err := differences(ctx, fsys, box.FS()); err != nil { // what this attempt would change in main
		return err
	}
	if _, err := s.Undo(ctx, 1); err != nil { // take the last change back
		return err
	}
	return differences(ctx, fsys, box.FS())
}

func differences(ctx context.Context, from, to snapshot.Tree) error {
	for change, err := range snapshot.Diff(ctx, from, to) {
		if err != nil {
			return err
		}
		fmt.Println(change.Kind, change.Path)
	}
	return nil
}

// The loop of an agent: a session is a branch, each call of a tool one commit in it, and the last can be taken back.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for range 2 { // each run is a session of its own
		if err := loop(context.Background(), filepath.Join(dir, "agent.db")); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// workspace_read_file: true
	// workspace_edit_file: true
	// workspace_write_file: true
	// workspace_rm: false
	// modified main.go
	// added notes.md
	// modified main.go
	// workspace_read_file: true
	// workspace_edit_file: true
	// workspace_write_file: true
	// workspace_rm: false
	// modified main.go
	// added notes.md
	// modified main.go
}
