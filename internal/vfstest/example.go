package vfstest

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// Example runs a test as the body of an example, which has no *testing.T, and prints whether it passed. Nothing else
// is printed, whatever the flags of go test.
func Example(test func(t testing.TB)) {
	ctx, done := context.WithCancel(context.Background())
	e := &example{ctx: ctx}
	test(e)
	done()

	for i := len(e.cleanups) - 1; i >= 0; i-- {
		e.cleanups[i]()
	}
	fmt.Println("passed:", !e.failed)
}

// An example has the methods of a [testing.TB] that test kits call. The others, of the nil TB, panic.
type example struct {
	testing.TB
	ctx      context.Context
	cleanups []func()
	failed   bool
}

func (e *example) Helper() {}

func (e *example) Context() context.Context { return e.ctx }

func (e *example) Cleanup(f func()) { e.cleanups = append(e.cleanups, f) }

func (e *example) TempDir() string {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (e *example) Errorf(format string, args ...any) {
	e.failed = true
	fmt.Printf(format+"\n", args...)
}

func (e *example) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

func (e *example) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
