package mcp_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vfsdb/mcp"
	"vfsdb/vfs"
)

// A client in the same process calls a tool of a tree. Its streams are pipes, where a program serves os.Stdin and
// os.Stdout.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	fsys, err := vfs.Open(ctx, filepath.Join(dir, "agent.db"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()
	if err := fsys.WriteFile(ctx, "plan.md", []byte("1. read\n2. write\n"), 0o644); err != nil {
		log.Fatal(err)
	}

	server, err := mcp.New(ctx, []mcp.Workspace{{FS: fsys}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	requests, toServer := io.Pipe()
	toClient, answers := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- server.ServeStdio(ctx, requests, answers) }()

	client := sdk.NewClient(&sdk.Implementation{Name: "example"}, nil)
	session, err := client.Connect(ctx, &sdk.IOTransport{Reader: toClient, Writer: toServer}, nil)
	if err != nil {
		log.Fatal(err)
	}
	result, err := session.CallTool(ctx, &sdk.CallToolParams{
		Name: "workspace_edit_file", Arguments: map[string]any{"path": "/plan.md", "oldText": "write", "newText": "edit"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("failed:", result.IsError)
	data, err := fsys.ReadFile(ctx, "plan.md")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(data))

	session.Close()
	fmt.Println("served:", <-served)
	// Output:
	// failed: false
	// 1. read
	// 2. edit
	// served: <nil>
}
