package vfstest

import (
	"fmt"
	"strings"
	"testing"
)

// A fakeTest is a test that a kit may fail while a real test looks on. A fatal failure panics with fatal.
type fakeTest struct {
	testing.TB
	failed   strings.Builder
	cleanups []func()
}

type fatal struct{}

func (f *fakeTest) Helper()                   {}
func (f *fakeTest) Cleanup(fn func())         { f.cleanups = append(f.cleanups, fn) }
func (f *fakeTest) Errorf(s string, a ...any) { fmt.Fprintf(&f.failed, s+"\n", a...) }
func (f *fakeTest) Fatalf(s string, a ...any) { f.Errorf(s, a...); panic(fatal{}) }

// Failures runs a test that may fail, and its cleanups. It returns the messages of the failures, or "" if the test
// passed. It is for tests of test kits.
func Failures(t *testing.T, test func(t testing.TB)) string {
	t.Helper()
	f := &fakeTest{TB: t}
	func() {
		defer func() {
			if p := recover(); p != nil && p != (fatal{}) {
				panic(p)
			}
		}()
		test(f)
	}()
	for len(f.cleanups) > 0 {
		last := f.cleanups[len(f.cleanups)-1]
		f.cleanups = f.cleanups[:len(f.cleanups)-1]
		last()
	}
	return f.failed.String()
}
