package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a write to a closed pipe is an error then, and the database is closed in order
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second interrupt ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program: it runs one command line and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	a := &app{in: stdin, out: newOutput(stdout), errs: newOutput(stderr)}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "vfsctl: internal error: %v\n", p)
			code = exitFailed
		}
	}()
	root := newRoot(a)
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.errs)
	err := root.ExecuteContext(ctx)
	if flushed := a.out.Flush(); err == nil {
		err = flushed
	}
	if err != nil && !a.started {
		err = asUsage(err, root, args)
		a.json = a.json || slices.Contains(args, "--json") // which may stand behind what was not understood
	}
	code = exitCode(ctx, err)
	a.complain(err, code)
	a.errs.Flush()
	return code
}
