package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"vfsdb/agent"
)

// A session is a branch of its own, opened by its first call. A mistake is taken back, a sub-agent works apart, and
// the ref is all that has to be kept to go on after a restart.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store := agent.NewStore(filepath.Join(dir, "agent.db"), nil)

	s, err := agent.Open(store, "fix-login", &agent.SessionOptions{Auto: agent.EachCall})
	if err != nil {
		log.Fatal(err)
	}
	write := func(s *agent.Session, text string) {
		input, _ := json.Marshal(map[string]string{"path": "/plan.md", "content": text})
		if r := s.Call(ctx, "workspace_write_file", input); r.Err != nil {
			log.Fatal(r.Err)
		}
	}
	show := func(s *agent.Session) {
		box, err := s.Toolbox(ctx)
		if err != nil {
			log.Fatal(err)
		}
		text, err := box.FS().ReadFile(ctx, "plan.md")
		fmt.Println(s.Name(), string(text), err)
	}
	write(s, "ask first")
	write(s, "delete everything")
	if _, err := s.Undo(ctx, 1); err != nil {
		log.Fatal(err)
	}
	show(s)

	helper, err := s.Sub(ctx, "helper", nil)
	if err != nil {
		log.Fatal(err)
	}
	write(helper, "ask first, then write a test")
	show(s)
	if _, err := s.Adopt(ctx, helper, nil); err != nil {
		log.Fatal(err)
	}
	if err := helper.Close(ctx); err != nil {
		log.Fatal(err)
	}

	ref, err := s.Ref(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Close(ctx); err != nil {
		log.Fatal(err)
	}
	later, err := agent.Resume(store, ref.String(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer later.Close(ctx)
	show(later)
	// Output:
	// fix-login ask first <nil>
	// fix-login ask first <nil>
	// fix-login ask first, then write a test <nil>
}
