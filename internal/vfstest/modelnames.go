package vfstest

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"
)

// Mkdir is [vfs.FS.Mkdir].
func (m *Model) Mkdir(name string, perm fs.FileMode) error {
	at, err := m.vacant(name)
	if err == nil {
		m.create(at, &node{mode: fs.ModeDir | perm})
	}
	return err
}

// MkdirAll is [vfs.FS.MkdirAll]. After an error some of the directories may exist.
func (m *Model) MkdirAll(name string, perm fs.FileMode) error {
	at, err := m.walk(name, true)
	switch {
	case err == nil && at.ok && m.nodes[at.id].mode.IsDir():
		return nil
	case err == nil && at.ok:
		return syscall.ENOTDIR
	case err != nil && err != syscall.ENOENT || name == "":
		return err
	case err != nil: // the directory above is missing
		dir, base := path.Split(strings.TrimRight(name, "/"))
		if dir == "" || base == "" {
			return syscall.EEXIST
		}
		if err := m.MkdirAll(dir, perm); err != nil {
			return err
		}
	}

	if at, err := m.walk(name, false); err == nil && at.ok && m.nodes[at.id].mode.IsDir() {
		return nil // made on the way, as by "a/../b"
	}
	return m.Mkdir(name, perm)
}

// Symlink is [vfs.FS.Symlink].
func (m *Model) Symlink(target, name string) error {
	if target == "" {
		return syscall.ENOENT
	}
	at, err := m.vacant(name)
	if err == nil {
		m.create(at, &node{mode: fs.ModeSymlink | 0o777, target: target})
	}
	return err
}

// Link is [vfs.FS.Link].
func (m *Model) Link(from, to string) error {
	src, n, err := m.find(from, false)
	if err != nil {
		return err
	}
	at, err := m.vacant(to)
	switch {
	case err != nil:
		return err
	case n.mode.IsDir():
		return syscall.EPERM
	}
	n.links++
	m.nodes[at.dir].entries[at.base] = src.id
	return nil
}

// removable returns the node at a path, or the error of removing it.
func (m *Model) removable(name string) (spot, *node, error) {
	at, n, err := m.find(name, false)
	switch {
	case err != nil:
	case at.id == modelRoot:
		err = syscall.EPERM
	case at.base == "":
		err = syscall.ENOTEMPTY
	}
	return at, n, err
}

// Remove is [vfs.FS.Remove].
func (m *Model) Remove(name string) error {
	at, n, err := m.removable(name)
	switch {
	case err != nil:
		return err
	case len(n.entries) > 0:
		return syscall.ENOTEMPTY
	}
	m.unlink(at)
	return nil
}

// RemoveAll is [vfs.FS.RemoveAll].
func (m *Model) RemoveAll(name string) error {
	at, _, err := m.removable(name)
	switch {
	case err == syscall.ENOENT && name != "":
		return nil
	case err != nil:
		return err
	}
	m.unlink(at)
	return nil
}

// Chmod is [vfs.FS.Chmod].
func (m *Model) Chmod(name string, perm fs.FileMode) error {
	_, n, err := m.find(name, true)
	if err == nil {
		n.mode = n.mode.Type() | perm
	}
	return err
}

// Rename is [vfs.FS.Rename].
func (m *Model) Rename(from, to string) error {
	src, err := m.walk(from, false)
	if err != nil {
		return err
	}
	dst, err := m.walk(to, false)
	if err != nil {
		return err
	}

	n := m.nodes[src.id]
	switch {
	case src.base == "" || dst.base == "":
		return syscall.EBUSY
	case !src.ok:
		return syscall.ENOENT
	case n.mode.IsDir() && slices.Contains(dst.chain, src.id):
		return syscall.EINVAL
	case dst.ok && slices.Contains(src.chain, dst.id):
		return syscall.ENOTEMPTY
	case dst.ok && dst.id == src.id:
		return nil
	}
	if err := m.displace(dst, n); err != nil {
		return err
	}

	if dst.ok {
		m.unlink(dst)
	}
	delete(m.nodes[src.dir].entries, src.base)
	m.nodes[dst.dir].entries[dst.base] = src.id
	return nil
}

// displace returns the error of putting n in the place of the node at dst, if there is one.
func (m *Model) displace(dst spot, n *node) error {
	if !dst.ok {
		return nil
	}
	old := m.nodes[dst.id]
	switch {
	case n.mode.IsDir() && !old.mode.IsDir():
		return syscall.ENOTDIR
	case !n.mode.IsDir() && old.mode.IsDir():
		return syscall.EISDIR
	case len(old.entries) > 0:
		return syscall.ENOTEMPTY
	}
	return nil
}

// Copy is [vfs.FS.Copy].
func (m *Model) Copy(from, to string) error {
	src, n, err := m.find(from, false)
	if err != nil {
		return err
	}
	dst, err := m.walk(to, false)
	switch {
	case err != nil:
		return err
	case n.mode.IsDir() && (slices.Contains(dst.chain, src.id) || dst.ok && dst.id == src.id):
		return syscall.EINVAL
	case dst.ok && dst.id == src.id:
		return nil
	}

	if err := m.displace(dst, n); err != nil {
		return err
	}
	if dst.ok {
		if n.mode.IsDir() {
			return syscall.EEXIST
		}
		m.unlink(dst)
	}
	m.copy(src.id, dst, map[int]int{})
	return nil
}

// copy copies a node and all below it. made holds the copies so far, by number, so hard links among them are kept.
func (m *Model) copy(id int, to spot, made map[int]int) {
	if twin, ok := made[id]; ok {
		m.nodes[twin].links++
		m.nodes[to.dir].entries[to.base] = twin
		return
	}
	n := m.nodes[id]
	twin := m.create(to, &node{mode: n.mode, data: n.data, target: n.target})
	made[id] = twin
	for _, name := range slices.Sorted(maps.Keys(n.entries)) {
		m.copy(n.entries[name], spot{dir: twin, base: name}, made)
	}
}
