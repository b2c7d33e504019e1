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

// Two sub-agents work at the same time, and the parent adopts both. Where both changed the same words, its branch keeps what
// it has, and the adoption returns the conflict.
func ExampleSession_Adopt() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	parent, err := agent.Open(agent.NewStore(filepath.Join(dir, "agent.db"), nil), "parent", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer parent.Close(ctx)
	write := func(s *agent.Session, path, text string) {
		input, _ := json.Marshal(map[string]string{"path": path, "content": text})
		if r := s.Call(ctx, "workspace_write_file", input); r.Err != nil {
			log.Fatal(r.Err)
		}
	}
	write(parent, "/plan.md", "title: none\n\nsteps: none\n")

	texts := map[string]string{
		"tester": "title: tests\n\nsteps: write tests\n",
		"author": "title: docs\n\nsteps: none\n",
	}
	var team []*agent.Session
	for _, name := range []string{"tester", "author"} {
		member, err := parent.Sub(ctx, name, nil)
		if err != nil {
			log.Fatal(err)
		}
		defer member.Close(ctx)
		team = append(team, member)
	}
	for _, member := range team {
		write(member, "/plan.md", texts[member.Name()])
		write(member, "/by-"+member.Name(), "done")
	}

	for _, member := range team {
		adopted, err := parent.Adopt(ctx, member, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %d changes, as it is: %v\n", member.Name(), len(adopted.Changes), adopted.FastForward)
		for _, c := range adopted.Added {
			fmt.Println("conflict:", c.Path, c.Parts, "with", c.TheirsLabel)
		}
	}
	// Output:
	// tester: 2 changes, as it is: true
	// author: 1 changes, as it is: false
	// conflict: plan.md [content] with author
}
