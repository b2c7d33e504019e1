package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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

// ReplaceHost writes a file of the host, which appears whole or not at all, and replaces an older one.
func (a *App) ReplaceHost(name string, write func(part *os.File) error) (err error) {
	if err := a.checkHost(name); err != nil {
		return err
	}

	// The content goes to a file beside the final name, on the same file system.
	part, err := os.CreateTemp(filepath.Dir(name), ".vfsctl.*.part")
	if err != nil {
		return &fs.PathError{Op: "create", Path: name, Err: cause(err)}
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
