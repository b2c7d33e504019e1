package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"vfsdb/search"
	"vfsdb/transfer"
	"vfsdb/vfs"
)

// A needle is one row of grepTree.
type needle struct {
	what, pattern string
	o             search.GrepOptions
	floor, aim    float64
	opened        bool // a new store for each search
}

// searches are a literal that is rare, one that is in every other file, one in any case, a regular expression with a
// literal in it, and one without.
var searches = []needle{
	{"a store just opened", "SearchInts", search.GrepOptions{}, 0, 0, true},
	{"a rare literal", "SearchInts", search.GrepOptions{}, 1, 3, false},
	{"a frequent literal", "return", search.GrepOptions{}, 0, 0, false},
	{"a literal, (?i)", "searchints", search.GrepOptions{IgnoreCase: true}, 0.5, 1, false},
	{`func\s+\w+Context`, `func\s+\w+Context`, search.GrepOptions{Regex: true}, 0, 0, false},
	{`\d{4}-\d{2}`, `\d{4}-\d{2}`, search.GrepOptions{Regex: true}, 0, 0, false},
}

// grepTree searches the source of Go beside ripgrep. Both sides have it in the host's page cache, and neither has an
// index. From the second search on, a store remembers which groups of letters a content does not have, so two searches
// go before the race. The first row is a first search, in a store that was just opened.
func grepTree(b *bench) error {
	src, err := b.goTree()
	if err != nil {
		return err
	}
	if _, _, err := weigh(src); err != nil { // now it is warm
		return err
	}

	if err := b.importAt(b.path("grep.db"), src); err != nil {
		return err
	}
	fsys, err := vfs.Open(b.ctx, b.path("grep.db"), nil)
	if err != nil {
		return err
	}
	defer fsys.Close()
	for range 2 {
		if _, err := search.Grep(b.ctx, fsys, "warm", nil); err != nil {
			return err
		}
	}

	for _, s := range searches {
		if err := b.search(fsys, src, s); err != nil {
			return err
		}
	}
	return nil
}

// search races one search of a store with one of the directory src.
func (b *bench) search(fsys *vfs.FS, src string, s needle) error {
	lines, installed := 0, true
	ours := func(fsys *vfs.FS) (time.Duration, error) {
		return b.timed(func() error {
			got, err := search.Grep(b.ctx, fsys, s.pattern, &s.o)
			if err == nil {
				lines = len(got.Matches)
			}
			return err
		})
	}

	times, err := b.race(b.rounds,
		side{"ours", func(int) (time.Duration, error) {
			if !s.opened {
				return ours(fsys)
			}
			opened, err := vfs.Open(b.ctx, b.path("grep.db"), nil)
			if err != nil {
				return 0, err
			}
			defer opened.Close()
			return ours(opened)
		}},
		side{"ripgrep", func(int) (t time.Duration, err error) {
			t, installed, err = b.ripgrep(src, s.pattern, &s.o)
			return t, err
		}},
	)
	if err != nil {
		return err
	}

	r := absent("grep "+s.what, times[0], "ripgrep")
	if installed {
		r = versus("grep "+s.what, times[0], "ripgrep", times[1], 0)
	}
	b.add(r.atLeast(s.floor).aim(s.aim).with("%s lines found", thousands(lines)))
	return nil
}

// importAt makes a store of a directory, and closes it.
func (b *bench) importAt(name, src string) error {
	fsys, err := vfs.Open(b.ctx, name, &vfs.Options{Relaxed: true})
	if err != nil {
		return err
	}
	_, err = transfer.ImportDir(b.ctx, fsys, src, "", nil)
	return errors.Join(err, fsys.Close())
}

// ripgrep searches a directory by the rules of our Grep: hidden files too, no file beyond 10 MiB, no binary one.
// installed is false if the host does not have the program.
func (b *bench) ripgrep(dir, pattern string, o *search.GrepOptions) (t time.Duration, installed bool, err error) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		return 0, false, nil
	}

	args := []string{"--no-config", "-uu", "--no-heading", "--line-number", "--max-filesize=10M"}
	if !o.Regex {
		args = append(args, "--fixed-strings")
	}
	if o.IgnoreCase {
		args = append(args, "--ignore-case")
	}

	cmd := exec.CommandContext(b.ctx, rg, append(args, "--", pattern, dir)...)
	var out, faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &faults
	t, err = b.timed(cmd.Run)
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 1 {
		err = nil // it found nothing
	}
	if err != nil {
		err = fmt.Errorf("rg: %w: %s", err, faults.Bytes())
	}
	return t, true, err
}
