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
)

// warmed reads the directory before each side, so that each finds it in the memory of the host. borg lets the host
// forget the files that it has read, and the next side would wait for the disk.
func warmed(dir string, sides []side) []side {
	for i, s := range sides {
		sides[i].run = func(round int) (time.Duration, error) {
			if _, _, err := weigh(dir); err != nil {
				return 0, err
			}
			return s.run(round)
		}
	}
	return sides
}

// goTree returns the directory with the source of Go; a small part of it in a -short run.
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
