//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A sheet has the times that a work measured, in seconds, by the names of their rows.
type sheet map[string]float64

// timed measures fn, which does n things, into a row: the time of one.
func (s sheet) timed(row string, n int, fn func() error) error {
	began := time.Now()
	err := fn()
	s[row] = time.Since(began).Seconds() / float64(n)
	return err
}

// works are what a child does in its working directory. A work adds its times to the sheet.
var works = map[string]func(sheet) error{
	"tree":  readTree,
	"repo":  useRepository,
	"touch": touchFiles,
	"small": smallFiles,
	"large": largeFile,
	"untar": untar,
	"clone": cloneRepository,
	"npm":   npmInstall,
}

// child does a work, and writes the sheet to the file that its arguments name.
func child(args []string) error {
	s := sheet{}
	if err := works[args[0]](s); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	s["end"] = float64(time.Now().UnixNano()) / 1e9
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], text, 0o644)
}

// readTree reads a large tree for the first time, and again.
func readTree(s sheet) error {
	for _, pass := range []string{"first", "again"} {
		if err := s.timed("walk and stat, "+pass, 1, walk); err != nil {
			return err
		}
		if err := s.timed("cat all, "+pass, 1, catAll); err != nil {
			return err
		}
	}
	return s.timed("grep -r", 1, func() error {
		err := exec.Command("grep", "-r", "-l", "no such text anywhere", ".").Run()
		if code, ok := err.(*exec.ExitError); ok && code.ExitCode() == 1 {
			return nil // it finds nothing
		}
		return err
	})
}

func walk() error {
	return filepath.WalkDir(".", func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			_, err = d.Info()
		}
		return err
	})
}

func catAll() error {
	return filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}

		f, err := os.Open(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, f)
		return errors.Join(err, f.Close())
	})
}

// useRepository works in a clone of this repository.
func useRepository(s sheet) error {
	for _, pass := range []string{"first", "again"} {
		if err := s.timed("git status, "+pass, 1, program("git", "status", "--short")); err != nil {
			return err
		}
	}

	for _, w := range []struct {
		row  string
		args []string
	}{
		{"go build, cached", []string{"go", "build", "-o", os.DevNull, "./cmd/vfsctl"}},
		{"go vet", []string{"go", "vet", "./vfs"}},
	} {
		if err := program(w.args[0], w.args[1:]...)(); err != nil { // fills the caches
			return err
		}
		if err := s.timed(w.row, 1, program(w.args[0], w.args[1:]...)); err != nil {
			return err
		}
	}
	return nil
}

// program returns a function that runs a program of the host.
func program(name string, args ...string) func() error {
	return func() error {
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
		}
		return nil
	}
}

// touchFiles appends to 500 files.
func touchFiles(s sheet) error {
	n := 0
	return s.timed("append to 500 files", 1, func() error {
		return filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || n == captured {
				return err
			}
			n++
			f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("// more\n")
			return errors.Join(err, f.Close())
		})
	})
}

// captured is the number of files that a run changes whose capture is measured.
const captured = 500

// smallFiles makes, reads and removes many small files.
func smallFiles(s sheet) error {
	const n = 10_000
	data := bytes.Repeat([]byte("0123456789abcdef"), 64)
	name := func(i int) string { return filepath.Join("small", strconv.Itoa(i/100), strconv.Itoa(i)) }
	each := func(fn func(name string) error) func() error {
		return func() error {
			for i := range n {
				if err := fn(name(i)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for i := range n / 100 {
		if err := os.MkdirAll(filepath.Dir(name(i*100)), 0o755); err != nil {
			return err
		}
	}

	if err := s.timed("create 1 KiB", n, each(func(name string) error { return os.WriteFile(name, data, 0o644) })); err != nil {
		return err
	}
	read := func(name string) error { _, err := os.ReadFile(name); return err }
	for _, pass := range []string{"first", "again", "cached"} {
		if err := s.timed("open and read, "+pass, n, each(read)); err != nil {
			return err
		}
	}
	stat := func(name string) error { _, err := os.Lstat(name); return err }
	if err := s.timed("stat, known", n, each(stat)); err != nil {
		return err
	}
	return s.timed("rm -r of 10,000 files", 1, program("rm", "-r", "small"))
}

// largeFile writes and reads 64 MiB.
func largeFile(s sheet) error {
	block := bytes.Repeat([]byte("large file "), 1<<20/11+1)[:1<<20]
	err := s.timed("write 64 MiB", 1, func() error {
		f, err := os.Create("large")
		if err != nil {
			return err
		}
		for i := range 64 {
			block[0] = byte(i)
			if _, err := f.Write(block); err != nil {
				return err
			}
		}
		return f.Close()
	})
	if err != nil {
		return err
	}

	f, err := os.OpenFile("large", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), forget(f)); err != nil {
		return err
	}
	for _, pass := range []string{"first", "again"} {
		err := s.timed("read 64 MiB, "+pass, 1, func() error {
			_, err := f.Seek(0, io.SeekStart)
			if err == nil {
				_, err = io.CopyBuffer(io.Discard, struct{ io.Reader }{f}, make([]byte, 1<<20))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return f.Close()
}

func untar(s sheet) error {
	return s.timed("untar 10,000 files, with sync", 1, program("sh", "-c", "mkdir x && tar xf \"$DOORS_TAR\" -C x && sync -f x"))
}

func cloneRepository(s sheet) error {
	return s.timed("git clone", 1, program("git", "clone", "-q", "--no-hardlinks", os.Getenv("DOORS_REPO"), "cloned"))
}

func npmInstall(s sheet) error {
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(os.Getenv("DOORS_NPM"), name))
		if err == nil {
			err = os.WriteFile(name, text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return s.timed("npm ci", 1, program("npm", "ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"))
}
