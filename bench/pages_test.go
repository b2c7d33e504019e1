package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/bench/figures"
)

// stored writes a report to a file and returns its name.
func stored(t *testing.T, r report) string {
	t.Helper()
	var encoded bytes.Buffer
	require.NoError(t, r.encode(&encoded))
	name := filepath.Join(t.TempDir(), "run.json")
	require.NoError(t, os.WriteFile(name, encoded.Bytes(), 0o644))
	return name
}

// A report that -json printed can be printed, drawn and printed as JSON again, without loss.
func TestFrom(t *testing.T) {
	r := madeUp()
	r.Took, r.Failed = 600, []failure{{"hole", "no space"}}
	var table, printed, again bytes.Buffer
	require.NoError(t, r.print(&table))
	require.Contains(t, table.String(), "10 minutes")
	require.Contains(t, table.String(), "hole failed: no space")

	name, drawing := stored(t, r), filepath.Join(t.TempDir(), "a.svg")
	require.NoError(t, run(t.Context(), []string{"-from", name, "-svg", drawing}, &printed, io.Discard))
	require.Equal(t, table.String(), printed.String())
	drawn, err := os.ReadFile(drawing)
	require.NoError(t, err)
	require.Equal(t, string(r.chart()), string(drawn))

	require.NoError(t, run(t.Context(), []string{"-from", name, "-json"}, &again, io.Discard))
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(text), again.String())

	for content, want := range map[string]string{"{": "unexpected end", "{}": "no rows"} {
		require.NoError(t, os.WriteFile(name, []byte(content), 0o644))
		require.ErrorContains(t, run(t.Context(), []string{"-from", name}, io.Discard, io.Discard), want)
	}
	require.ErrorIs(t, run(t.Context(), []string{"-from", name + ".missing"}, io.Discard, io.Discard), os.ErrNotExist)
}

// The figures of the pages are replaced, and nothing else in them.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bench"), 0o755))
	page := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return string(text)
	}
	names := []string{"README.md", "bench/README.md"}
	for _, name := range names {
		text := "before\n" + figuresBegin + "stale\n" + figures.End + "after\n"
		if name != "README.md" {
			text = "before\n" + shortBegin + "stale\n" + figures.End + "between\n" + text[len("before\n"):]
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	r := madeUp()
	r.Rows[0].Workload, r.Rows[len(r.Rows)-2].Workload = "create-batch", "gc"
	r.Rows[1].Workload = "create-durable"
	file := stored(t, r)
	for range 2 { // it can be done again
		require.NoError(t, run(t.Context(), []string{"-from", file, "-pages", dir}, io.Discard, io.Discard))
		for _, name := range names {
			begin := figuresBegin
			if name != "README.md" {
				begin = shortBegin
			}
			require.True(t, strings.HasPrefix(page(name), "before\n"+begin), name)
			require.True(t, strings.HasSuffix(page(name), figures.End+"after\n"), name)
			require.NotContains(t, page(name), "stale")
		}
	}
	require.Contains(t, page("bench/README.md"), "| drop a branch of 10,000 files, then gc | 1 ms | `os.RemoveAll`: 448 ms | 448x |\n")
	require.NotContains(t, page("bench/README.md"), "stat of a path", "it was not measured")
	require.Contains(t, page("bench/README.md"), figures.End+"between\n"+figuresBegin)
	require.Contains(t, page("bench/README.md"), "at least: 7 of 10 met")
	require.Contains(t, page("README.md"), "![Their time divided by ours. one writer, each file durable, beside create+write+fsync: 1.39x](bench/eight.svg)\n")
	require.Contains(t, page("README.md"), "The worst row of all: stream in 1 GiB, durable, 0.26x of `file+blake3+fsync`.\n")
	require.Equal(t, string(r.eight().chart()), page("bench/eight.svg"))
	require.Equal(t, string(r.chart()), page("bench/ratios.svg"))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(text), page("bench/newest.json"))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "README.md"), []byte("no marks\n"), 0o644))
	require.ErrorContains(t, run(t.Context(), []string{"-from", file, "-pages", dir}, io.Discard, io.Discard), "marks for the figures")
	require.ErrorContains(t, run(t.Context(), []string{"-short", "-pages", dir}, io.Discard, io.Discard), "whole runs")
	require.ErrorContains(t, run(t.Context(), []string{"-run", "hole", "-pages", dir}, io.Discard, io.Discard), "whole runs")
}

// The pages of this repository show the rows of newest.json and nothing else between their marks.
func TestPagesAreOfTheNewestRun(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bench"), 0o755))
	names := []string{"README.md", "bench/README.md", "bench/newest.json", "bench/ratios.svg", "bench/eight.svg"}
	before := make(map[string]string)
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("..", name))
		require.NoError(t, err)
		before[name] = string(text)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	require.NoError(t, run(t.Context(), []string{"-from", "newest.json", "-pages", dir}, io.Discard, io.Discard))
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, before[name], string(text), "%s: go run ./bench -from bench/newest.json -pages . brings it up to date", name)
	}
}

// Every bar of the README is a row that the newest run has, and one at least is a loss.
func TestEight(t *testing.T) {
	r, err := readReport("newest.json")
	require.NoError(t, err)
	rows := r.eight().Rows
	require.Len(t, rows, 8)
	lost := false
	for _, row := range rows {
		require.True(t, row.drawn(), row.What)
		lost = lost || row.Ratio < 1
	}
	require.True(t, lost)
	require.NotContains(t, string(r.eight().chart()), "at least")
}

// substitute puts other workloads in place of ours for a test.
func substitute(t *testing.T, others ...workload) {
	t.Helper()
	ours := workloads
	workloads = others
	t.Cleanup(func() { workloads = ours })
}

// A workload that fails is reported, and the rows before it and after it are there.
func TestFailureLosesNoRows(t *testing.T) {
	add := func(what string) func(b *bench) error {
		return func(b *bench) error { b.add(under(what, "s", 1, 0)); return nil }
	}
	substitute(t, workload{"k", "first", add("one")},
		workload{"k", "second", func(b *bench) error { return errors.Join(add("two")(b), errors.New("no luck")) }},
		workload{"k", "third", add("three")})
	var out, progress bytes.Buffer
	dir := t.TempDir()
	err := run(t.Context(), []string{"-dir", dir}, &out, &progress)
	require.EqualError(t, err, "1 of 3 workloads failed")
	for _, want := range []string{"one", "two", "three", "second failed: no luck"} {
		require.Contains(t, out.String(), want)
	}
	require.Contains(t, progress.String(), " 2/3 second no luck\n")
	empty(t, dir)
}

// An interrupted run shows its rows, reports the interrupt, and leaves no files behind.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	substitute(t, workload{"k", "first", func(b *bench) error { b.add(under("one", "s", 1, 0)); return nil }},
		workload{"k", "second", func(b *bench) error {
			if err := os.WriteFile(b.path("left"), nil, 0o644); err != nil {
				return err
			}
			cancel()
			return b.ctx.Err()
		}},
		workload{"k", "third", func(b *bench) error { panic("it goes on") }})
	var out, progress bytes.Buffer
	dir := t.TempDir()
	require.ErrorIs(t, run(ctx, []string{"-dir", dir}, &out, &progress), context.Canceled)
	require.Contains(t, out.String(), "one")
	require.Contains(t, progress.String(), " 2/3 second interrupted\n")
	empty(t, dir)
}

func empty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
