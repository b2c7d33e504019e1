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
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	context.AfterFunc(ctx, stop) // the second interrupt ends the process at once
	os.Exit(int(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)))
}

// endings returns the signals that end a command in order: an interrupt, a request, and the end of the terminal unless nohup has
// the command outlive that.
func endings() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// run is the whole program: it runs one command line and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) cli.Exit {
	return cli.Run(ctx, newRoot, args, stdin, stdout, stderr)
}
