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

// A creation is a database that does not have its name yet. It is made beside its place and gets the name when the
// command that makes it has succeeded, so a failed import leaves none behind.
type creation struct {
	path string // of the file while it is made
	name string // which it gets
}

// beginCreation reserves a name beside that of the database.
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

// end gives the database its name, unless err says that the command has failed: then it is gone. A database that got
// the name meanwhile stays, and is EEXIST.
func (c *creation) end(err error) error {
	if err == nil {
		err = renameNew(c.path, c.name)
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%s: %w: another process has created it meanwhile; nothing was done", c.name, syscall.EEXIST)
		}
	}
	if err != nil {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			os.Remove(c.path + suffix)
		}
	}
	return err
}

// renameIfAbsent renames a file where the host cannot refuse to replace another: it looks before.
func renameIfAbsent(from, to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = syscall.EEXIST
		}
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return os.Rename(from, to)
}

// named gives an error the name that the user knows.
func (c *creation) named(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) && p.Path == c.path {
		p.Path = c.name
	}
	return err
}
