package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// errOwnFile is a file of the host that must be left to SQLite: to open and close it would drop the locks on it, and to
// replace it would lose everything.
var errOwnFile = errors.New("this is the database itself; backup copies it")

// checkHost refuses the files of the database as files of the host.
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

// ReplaceHost writes a file of the host so that it appears whole or not at all.
func (a *App) ReplaceHost(name string, write func(part *os.File) error) (err error) {
	if err := a.checkHost(name); err != nil {
		return err
	}
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
			p.Path = name // which is what was asked for
		}
	}()
	if err := write(part); err != nil {
		return err
	}
	if err := part.Sync(); err != nil {
		return err
	}
	if err := part.Close(); err != nil {
		return err
	}
	return os.Rename(part.Name(), name)
}

// cause is an error without the file that it names, where that is one of ours that nobody asked for.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// FileSize is how long a file of the host is; 0 if there is none.
func FileSize(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}
