package vfstest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"vfsdb/tree"
	"vfsdb/vfs"
)

// Log returns the events of the log, each as a [Line].
func Log(t testing.TB, fsys *vfs.FS, o *vfs.LogOptions) []string {
	t.Helper()
	events, err := fsys.Log(t.Context(), o)
	if err != nil {
		t.Fatalf("vfstest: %v", err)
	}
	lines := make([]string, len(events))
	for i, e := range events {
		lines[i] = Line(e)
	}
	return lines
}

// Take waits for the next n events of a watch. It returns each as a [Line], and the number of the last one.
func Take(t testing.TB, fsys *vfs.FS, prefix string, since int64, n int) (lines []string, last int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for e, err := range fsys.Watch(ctx, prefix, since) {
		if err != nil {
			t.Fatalf("vfstest: %v", err)
		}
		lines, last = append(lines, Line(e)), e.Seq
		if len(lines) == n {
			break
		}
	}
	return lines, last
}

// Line renders an event: op, path, arg, contents before and after, growth.
func Line(e vfs.Event) string {
	parts := []string{string(e.Op), e.Path}
	if e.Arg != "" {
		parts = append(parts, "("+e.Arg+")")
	}
	if e.Before != nil || e.After != nil {
		parts = append(parts, Content(e.Before)+"->"+Content(e.After))
	}
	if e.Grew != 0 {
		parts = append(parts, fmt.Sprintf("%+d", e.Grew))
	}
	return strings.Join(parts, " ")
}

// Content names a sum by its content, if that is one that tests of history use, else by its first digits.
func Content(sum *vfs.Sum) string {
	if sum == nil {
		return ""
	}
	for _, content := range []string{"", "one", "three", "onethree", "on", "oN", "link"} {
		if vfs.SumOf([]byte(content)) == *sum {
			return "'" + content + "'"
		}
	}
	return sum.String()[:8]
}

// Trim deletes all events but the newest ones, as gc does, which would ask other processes first.
func Trim(t testing.TB, fsys *vfs.FS, keep int64) {
	t.Helper()
	trimmer := (*tree.Tree)(fsys).Store().Journal().NewTrimmer(keep, false)
	for done := false; !done; {
		step, err := trimmer.Step(t.Context(), 1000)
		if err != nil {
			t.Fatalf("vfstest: %v", err)
		}
		done = step.Done
	}
}
