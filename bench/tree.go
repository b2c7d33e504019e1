package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"vfsdb/transfer"
)

// importTree takes in the source of Go, about 10,000 files, beside `cp -r`, and looks at the size of the database.
func importTree(b *bench) error {
	src, err := b.goTree()
	if err != nil {
		return err
	}
	files, size, err := weigh(src) // which also makes it warm
	if err != nil {
		return err
	}
	var used float64
	found := true
	times, err := b.race(b.few(),
		side{"ours", func(round int) (t time.Duration, err error) {
			name := fmt.Sprintf("import-%d", round)
			fsys, err := b.openNew(name)
			if err != nil {
				return 0, err
			}
			if t, err = b.timed(func() error {
				_, err := transfer.ImportDir(b.ctx, fsys, src, "src", nil)
				return err
			}); err == nil {
				var n int64
				n, err = bytesOf(b.ctx, fsys)
				used = float64(n)
			}
			if closeErr := fsys.Close(); err == nil {
				err = closeErr
			}
			os.Remove(b.path("%s.db", name))
			return t, err
		}},
		side{"cp -r", func(round int) (t time.Duration, err error) {
			to := b.path("copy-%d", round)
			defer os.RemoveAll(to)
			t, found, err = b.hostCopyTree(src, to)
			return t, err
		}},
	)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("import %s files, %s", thousands(files), figure(float64(size), "B"))
	r := absent(what, times[0], "cp -r")
	if found {
		r = versus(what, times[0], "cp -r", times[1], 0.5)
	}
	b.add(r, under("database bytes per byte of it", "B/B", used/float64(size), 1.1))
	return nil
}

// goTree finds the source of Go; a small part of it in a -short run.
func (b *bench) goTree() (string, error) {
	out, err := exec.CommandContext(b.ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	src := filepath.Join(string(bytes.TrimSpace(out)), "src")
	if b.short {
		src = filepath.Join(src, "sort")
	}
	return src, nil
}

// weigh counts the files of a directory and their bytes, and reads them all.
func weigh(dir string) (files int, size int64, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		n, err := io.Copy(io.Discard, f)
		files++
		size += n
		return err
	})
	return files, size, err
}
