package vfstest

import (
	"io/fs"
	"slices"
	"syscall"

	"vfsdb/chunk"
)

// content is the content of a file. It never changes, so clones share it.
type content struct {
	bytes []byte
	sum   chunk.Sum
}

func newContent(p []byte) *content { return &content{bytes: p, sum: chunk.SumOf(p)} }

// regular returns an error for a node that is no regular file.
func (n *node) regular() error {
	switch {
	case n.mode.IsDir():
		return syscall.EISDIR
	case !n.mode.IsRegular():
		return syscall.EINVAL
	}
	return nil
}

// change gives a file new content, made from the old. A missing file is created, unless perm is zero.
func (m *Model) change(name string, perm fs.FileMode, to func(old []byte) []byte) error {
	at, err := m.walk(name, true)
	switch {
	case err != nil:
		return err
	case !at.ok && perm == 0:
		return syscall.ENOENT
	case !at.ok:
		m.create(at, &node{mode: perm, data: newContent(to(nil))})
		return nil
	}

	n := m.nodes[at.id]
	if err := n.regular(); err != nil {
		return err
	}
	n.data = newContent(to(n.data.bytes))
	return nil
}

// WriteFile is [vfs.FS.WriteFile].
func (m *Model) WriteFile(name string, data []byte, perm fs.FileMode) error {
	return m.change(name, perm, func([]byte) []byte { return data })
}

// Append is [vfs.FS.Append].
func (m *Model) Append(name string, data []byte, perm fs.FileMode) error {
	return m.change(name, perm, func(old []byte) []byte { return slices.Concat(old, data) })
}

// Truncate is [vfs.FS.Truncate].
func (m *Model) Truncate(name string, size int) error {
	return m.change(name, 0, func(old []byte) []byte { return resized(old, size) })
}

// WriteAt is [vfs.File.WriteAt] on a file that exists.
func (m *Model) WriteAt(name string, data []byte, off int) error {
	return m.change(name, 0, func(old []byte) []byte {
		if len(data) == 0 {
			return old // not even past the end
		}
		p := resized(old, max(len(old), off+len(data)))
		copy(p[off:], data)
		return p
	})
}

// resized returns a copy of old that is cut or filled with zeros.
func resized(old []byte, size int) []byte {
	p := make([]byte, size)
	copy(p, old)
	return p
}

// ReadFile is [vfs.FS.ReadFile].
func (m *Model) ReadFile(name string) ([]byte, error) {
	_, n, err := m.find(name, true)
	if err == nil {
		err = n.regular()
	}
	if err != nil {
		return nil, err
	}
	return n.data.bytes, nil
}
