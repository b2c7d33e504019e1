package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"

	"vfsdb/cmd/vfsctl/term"
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
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return &fs.PathError{Op: "create", Path: name, Err: syscall.EISDIR}
	case err == nil && !info.Mode().IsRegular():
		return nil
	}
	part, err := createPart(name, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(part.Close(), os.Remove(part.Name()))
}

// createPart creates the file that is to replace another one, beside it: on the same file system.
func createPart(name string, perm fs.FileMode) (*os.File, error) {
	part := filepath.Join(filepath.Dir(name), fmt.Sprintf(".vfsctl.%d.part", rand.Uint64()))
	f, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: cause(err)}
	}
	return f, nil
}

// ReplaceHost writes a file of the host, which appears whole or not at all. A new file gets perm, less the umask. An older one
// is replaced, and its permissions stay; a symlink leads to it, as elsewhere. What is no file, such as a device, and what an output
// of the command goes to are never replaced: write writes there.
func (a *App) ReplaceHost(name string, perm fs.FileMode, write func(part *os.File) error) error {
	if err := a.checkHost(name); err != nil {
		return err
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return replace(name, nil, perm, write)
	case !info.Mode().IsRegular() && !info.IsDir():
		return writeOpen(name, write)
	}
	for _, out := range []*term.Output{a.Out, a.Errs} {
		if f, is := out.Under().(*os.File); is && sameFile(f, info) {
			return errors.Join(out.Flush(), write(f))
		}
	}
	to, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	return replace(to, info, perm, write)
}

// sameFile reports whether an open file is the one that info describes.
func sameFile(f *os.File, info fs.FileInfo) bool {
	open, err := f.Stat()
	return err == nil && os.SameFile(open, info)
}

// writeOpen writes to what is no file.
func writeOpen(name string, write func(*os.File) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// replace is ReplaceHost of a name that is no symlink. old is the file that has it, if any.
func replace(name string, old fs.FileInfo, perm fs.FileMode, write func(part *os.File) error) (err error) {
	part, err := createPart(name, perm)
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

	if old != nil {
		if err := part.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
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
