package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/peterh/liner"

	"vfsdb/cmd/vfsctl/cli"
)

// A memory is the file of the lines that a user has typed. Shells that run at once add to it in turns.
type memory struct{ file string }

func newMemory() (memory, error) {
	dir, err := cli.StateDir()
	return memory{filepath.Join(dir, "history")}, err
}

// load returns the lines that are remembered, the oldest first. A file that has become long is made short.
func (m memory) load() ([]string, error) {
	data, err := os.ReadFile(m.file)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	all := slices.DeleteFunc(strings.Split(string(data), "\n"), func(line string) bool { return !remembered(line) })
	if len(all) <= 2*liner.HistoryLimit {
		return all, nil
	}
	all = all[len(all)-liner.HistoryLimit:]
	part, err := os.CreateTemp(filepath.Dir(m.file), ".part-*") // with the mode 0600
	if err != nil {
		return all, err
	}
	_, err = part.WriteString(strings.Join(all, "\n") + "\n")
	if closed := part.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(part.Name(), m.file)
	}
	if err != nil {
		os.Remove(part.Name())
	}
	return all, err
}

// add remembers a line.
func (m memory) add(line string) error {
	if err := os.MkdirAll(filepath.Dir(m.file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(m.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// remembered reports whether a line is remembered. A space in front keeps it out.
func remembered(line string) bool {
	return !blank(line) && line[0] != ' ' && utf8.ValidString(line) && !strings.ContainsRune(line, 0)
}
