package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
)

// An app is one run of the program: the global flags, and where it reads and writes.
type app struct {
	db     string // the file
	branch string // the branch to stand on
	at     string // the snapshot to stand on instead
	json   bool
	zero   bool // --print0

	making *creation // of a database that does not have its name yet; nil in all other runs

	in        io.Reader
	out, errs *output
	started   bool // the command line was understood
}

// defaultDB is the database when neither --db nor VFS_DB names one.
const defaultDB = "agent.db"

// stand looks at the flags that say where a command stands. $VFS_BRANCH names the branch where neither --branch nor
// --at does.
func (a *app) stand(cmd *cobra.Command, _ []string) error {
	switch {
	case a.db == "":
		return usage(cmd, "--db is empty: it names the file of the database")
	case a.branch != "" && a.at != "":
		return usage(cmd, "--branch and --at exclude each other: a snapshot has its branch")
	case a.zero && a.json:
		return usage(cmd, "--print0 and --json exclude each other: JSON has the bytes of names in path_base64")
	case a.branch == "" && a.at == "":
		a.branch = os.Getenv(branchEnv)
	}
	a.out.zero = a.zero
	return nil
}

// print0 adds the flag -0 to a command that lists names.
func (a *app) print0(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&a.zero, "print0", "0", false, "end lines with a NUL and quote no names, for xargs -0")
}

// branchEnv is the variable that names the branch to stand on.
const branchEnv = "VFS_BRANCH"

func databaseFromEnv() string {
	if db := os.Getenv("VFS_DB"); db != "" {
		return db
	}
	return defaultDB
}

// invoke writes a command line for the same database.
func (a *app) invoke(args ...string) string {
	words := []string{"vfsctl"}
	if a.db != defaultDB {
		words = append(words, "--db", a.db)
	}
	return commandLine(append(words, args...)...)
}

// runProgram runs one command line and returns its exit code. newRoot makes the command that all others are below.
func runProgram(ctx context.Context, newRoot func(*app) *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) (code exit) {
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

// progress starts a line on standard error, which --json leaves out. total is in bytes; 0 if it is not known.
func (a *app) progress(ctx context.Context, what string, total int64) *progress {
	if a.json {
		return nil
	}
	return a.errs.progress(ctx, what, total)
}
