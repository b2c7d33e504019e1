package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"vfsdb/schema"
)

// A creation is a new database that does not have its name yet. It is a file in the same directory, and gets the name
// when the command succeeds. A failed import leaves no database behind.
type creation struct {
	path string // of the file until the command ends
	name string // of the file afterwards
	keep bool   // it has what is worth keeping, even if the command fails
}

// beginCreation reserves a name in the directory of the database.
func beginCreation(name string) (*creation, error) {
	if err := schema.Vacant(name); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.new")
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: cause(err)}
	}
	return &creation{path: f.Name(), name: name}, f.Close() // it is empty: no lock of SQLite's is on it
}

// end gives the database its name, or removes it if err is the error of a command that failed as a whole. If another database
// got the name meanwhile, that one stays, and the error is EEXIST.
func (c *creation) end(err error) error {
	if err == nil || c.keep || errors.Is(err, ExitPartly) {
		unnamed := renameNew(c.path, c.name)
		switch {
		case unnamed == nil:
			return err
		case errors.Is(unnamed, fs.ErrExist):
			unnamed = fmt.Errorf("%s: %w: another process has created it meanwhile; nothing was done", c.name, syscall.EEXIST)
		}
		err = unnamed
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		os.Remove(c.path + suffix)
	}
	return err
}

// renameIfAbsent renames a file on a host that cannot refuse to replace another. It looks first.
func renameIfAbsent(from, to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = syscall.EEXIST
		}
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return os.Rename(from, to)
}

// named replaces the file's name in an error by the name that the user gave.
func (c *creation) named(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) && p.Path == c.path {
		p.Path = c.name
	}
	return err
}

// Keep makes that a database stays which the command creates, even if the command fails.
func (a *App) Keep() {
	if a.making != nil {
		a.making.keep = true
	}
}

// Creating reports whether the command creates the database. A failure then leaves nothing of it, unless the database
// is kept.
func (a *App) Creating() bool { return a.making != nil }
