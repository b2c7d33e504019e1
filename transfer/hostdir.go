package transfer

import (
	"os"
	"sync"
)

// A hostDir is an open directory of the host. It closes when its last user is done.
type hostDir struct {
	root *os.Root
	self *os.File // the same, for system calls that os.Root does not offer

	mu    sync.Mutex
	users int
}

// openDir opens a directory below another one, for one user.
func openDir(above *os.Root, name string) (*hostDir, error) {
	root, err := above.OpenRoot(inStore(name))
	if err != nil {
		return nil, err
	}
	self, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &hostDir{root: root, self: self, users: 1}, nil
}

// use adds a user.
func (d *hostDir) use() *hostDir {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.users++
	return d
}

// done removes a user.
func (d *hostDir) done() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users--; d.users == 0 {
		d.self.Close()
		d.root.Close()
	}
}
