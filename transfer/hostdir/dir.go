package hostdir

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// A Dir is an open directory of the host. It closes when its last user is done, and is safe for concurrent use.
type Dir struct {
	Root *os.Root
	Self *os.File // the same, for system calls that os.Root does not offer

	mu    sync.Mutex
	users int
}

// Open opens a directory below another one, for one user. The name "." is that directory itself. A symlink in the name leads
// no further than the directory above.
func Open(above *os.Root, name string) (*Dir, error) {
	root, err := above.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return open(root)
}

func open(root *os.Root) (*Dir, error) {
	self, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &Dir{Root: root, Self: self, users: 1}, nil
}

// An ID identifies a file of the host.
type ID struct{ Dev, Ino uint64 }

// Use adds a user.
func (d *Dir) Use() *Dir {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.users++
	return d
}

// Done removes a user. The last one closes the directory.
func (d *Dir) Done() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users--; d.users == 0 {
		d.Self.Close()
		d.Root.Close()
	}
}

// RemoveAll removes a name below the directory, and all below it, if need be after that got the rights.
func (d *Dir) RemoveAll(name string) error {
	err := d.Root.RemoveAll(name)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	err = fs.WalkDir(d.Root.FS(), name, func(name string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			if err := d.Root.Chmod(name, 0o700); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return d.Root.RemoveAll(name)
}

// CheckEmpty refuses a directory that has something in it: ENOTEMPTY.
func CheckEmpty(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	if names, _ := d.Readdirnames(1); len(names) > 0 {
		return syscall.ENOTEMPTY
	}
	return nil
}
