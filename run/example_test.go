package run_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"vfsdb/run"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A program of the host works on a fork, and main stays as it is.
func ExampleCommand() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	err = runOnFork(context.Background(), dir)
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// ran by copy: 1 path changed on try
	// hello
}

func runOnFork(ctx context.Context, dir string) error {
	fsys, err := vfs.Open(ctx, filepath.Join(dir, "agent.db"), nil)
	if err != nil {
		return err
	}
	defer fsys.Close()
	try, err := snapshot.Branch(ctx, fsys, fsys, "try")
	if err != nil {
		return err
	}

	cmd := run.Command(ctx, try, run.Options{Via: run.Copy, Cache: filepath.Join(dir, "cache")}, "tee", "greeting")
	cmd.Stdin = strings.NewReader("hello\n")
	if err := cmd.Run(); err != nil {
		return err
	}
	fmt.Printf("ran by %s: %d path changed on %s\n", cmd.Result.Engine, cmd.Result.Changed, cmd.Result.Branch)
	data, err := try.ReadFile(ctx, "greeting")
	fmt.Print(string(data))
	return err
}
