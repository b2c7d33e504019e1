package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// errOwnFile refuses a file of the host that belongs to SQLite. Closing it would drop SQLite's locks, and replacing it
// would lose the database.
var errOwnFile = errors.New("this is the database itself; backup copies it")

// checkHost refuses the files of the database where a file of the host is named.
func (a *App) checkHost(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return nil
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if own, err := os.Stat(a.DB + suffix); err == nil && os.SameFile(own, info) {
			return &fs.PathError{Op: "open", Path: name, Err: errOwnFile}
		}
	}
	return nil
}

// OpenHost opens a file of the host for reading.
func (a *App) OpenHost(name string) (*os.File, error) {
	if err := a.checkHost(name); err != nil {
		return nil, err
	}
	return os.Open(name)
}

// Replaceable refuses a file of the host that [App.ReplaceHost] could not write: for what takes long before it is written.
func (a *App) Replaceable(name string) error {
	if err := a.checkHost(name); err != nil {
		return err
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return &fs.PathError{Op: "create", Path: name, Err: syscall.EISDIR}
	}
	part, err := createPart(name)
	if err != nil {
		return err
	}
	return errors.Join(part.Close(), os.Remove(part.Name()))
}

// createPart creates the file that is to replace another one, beside it: on the same file system.
func createPart(name string) (*os.File, error) {
	part, err := os.CreateTemp(filepath.Dir(name), ".vfsctl.*.part")
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: cause(err)}
	}
	return part, nil
}

// ReplaceHost writes a file of the host, which appears whole or not at all, and replaces an older one.
func (a *App) ReplaceHost(name string, write func(part *os.File) error) (err error) {
	if err := a.checkHost(name); err != nil {
		return err
	}
	part, err := createPart(name)
	if err != nil {
		return err
	}

	defer func() {
		if err != nil {
			part.Close()
			os.Remove(part.Name())
		}
		var p *fs.PathError
		if errors.As(err, &p) && p.Path == part.Name() {
			p.Path = name // the user knows no other
		}
	}()

	if err := write(part); err != nil {
		return err
	}

	// The content has to be on disk before the name points at it.
	if err := part.Sync(); err != nil {
		return err
	}
	if err := part.Close(); err != nil {
		return err
	}
	return os.Rename(part.Name(), name)
}

// cause strips the name of a file from an error: a temporary one means nothing to the user.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// FileSize returns the size of a file of the host, or 0 if there is none.
func FileSize(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}
