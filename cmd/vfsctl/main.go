package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"vfsdb/cmd/vfsctl/cli"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a write to a closed pipe is then an error, and the database is closed in order
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second interrupt ends the process at once
	os.Exit(int(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)))
}

// run is the whole program: it runs one command line and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) cli.Exit {
	return cli.Run(ctx, newRoot, args, stdin, stdout, stderr)
}
