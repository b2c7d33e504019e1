package vfstest

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"

	"vfsdb/chunk"
)

// A Model is one tree of a filesystem, written down as plainly as possible. Its verbs answer as those of vfs do, errno
// included. It knows nothing of history: a snapshot, a branch and a restore are each a Clone.
type Model struct {
	nodes map[int]*node
	last  *int // the highest number of a node, of this tree and its clones
}

// A node is an inode. Its number stays with it from clone to clone.
type node struct {
	mode    fs.FileMode
	links   int
	data    *content
	target  string
	entries map[string]int // of a directory
}

// content never changes, so clones share it.
type content struct {
	bytes []byte
	sum   chunk.Sum
}

func newContent(p []byte) *content { return &content{bytes: p, sum: chunk.SumOf(p)} }

const modelRoot = 0

// NewModel returns an empty root.
func NewModel() *Model { return empty(new(int)) }

// Empty returns an empty root with which m has no file in common.
func (m *Model) Empty() *Model { return empty(m.last) }

func empty(last *int) *Model {
	return &Model{last: last, nodes: map[int]*node{modelRoot: {mode: fs.ModeDir | 0o755, links: 1, entries: map[string]int{}}}}
}

// Clone returns a deep copy, whose files are the same files as far as renames are told.
func (m *Model) Clone() *Model {
	c := &Model{nodes: make(map[int]*node, len(m.nodes)), last: m.last}
	for id, n := range m.nodes {
		copied := *n
		copied.entries = maps.Clone(n.entries)
		c.nodes[id] = &copied
	}
	return c
}

// Paths lists everything below the root, sorted.
func (m *Model) Paths() []string { return slices.Sorted(maps.Keys(m.paths())) }

// Dump is [Dump] of the model.
func (m *Model) Dump() map[string]string {
	dump := map[string]string{".": m.nodes[modelRoot].describe()}
	for name, id := range m.paths() {
		dump[name] = m.nodes[id].describe()
	}
	return dump
}

func (n *node) describe() string {
	switch {
	case n.mode&fs.ModeSymlink != 0:
		return describeLink(n.links, n.target)
	case n.mode.IsRegular():
		return describeFile(n.mode, n.links, int64(len(n.data.bytes)), n.data.sum)
	}
	return describeOther(n.mode, n.links)
}

// paths lists everything below the root.
func (m *Model) paths() map[string]int {
	paths := make(map[string]int)
	var walk func(dir string, id int)
	walk = func(dir string, id int) {
		for name, child := range m.nodes[id].entries {
			at := path.Join(dir, name)
			paths[at] = child
			if m.nodes[child].mode.IsDir() {
				walk(at, child)
			}
		}
	}
	walk("", modelRoot)
	return paths
}

// A spot is where a path leads.
type spot struct {
	dir   int
	base  string // "" for the root, and where the path ends in ".."
	id    int
	ok    bool // there is something
	chain []int
}

func (m *Model) walk(name string, follow bool) (spot, error) {
	if name == "" {
		return spot{}, syscall.ENOENT
	}
	chain, names, links := []int{modelRoot}, []string{}, 0
	rest := segments(name)
	for len(rest) > 0 {
		seg := rest[0]
		rest = rest[1:]
		if seg == ".." {
			if len(chain) > 1 {
				chain, names = chain[:len(chain)-1], names[:len(names)-1]
				if len(rest) == 0 {
					at := here(chain, names)
					at.base = ""
					return at, nil
				}
			}
			continue
		}
		if len(seg) > 255 {
			return spot{}, syscall.ENAMETOOLONG
		}
		dir := chain[len(chain)-1]
		id, ok := m.nodes[dir].entries[seg]
		last := len(rest) == 0
		switch {
		case ok && m.nodes[id].mode&fs.ModeSymlink != 0 && (!last || follow):
			if links++; links > 40 {
				return spot{}, syscall.ELOOP
			}
			target := m.nodes[id].target
			if strings.HasPrefix(target, "/") {
				chain, names = chain[:1], names[:0]
			}
			rest = append(segments(target), rest...)
		case last:
			return spot{dir: dir, base: seg, id: id, ok: ok, chain: slices.Clone(chain)}, nil
		case !ok:
			return spot{}, syscall.ENOENT
		case !m.nodes[id].mode.IsDir():
			return spot{}, syscall.ENOTDIR
		default:
			chain, names = append(slices.Clip(chain), id), append(slices.Clip(names), seg)
		}
	}
	return here(chain, names), nil
}

func here(chain []int, names []string) spot {
	top := len(chain) - 1
	at := spot{id: chain[top], ok: true, chain: chain}
	if top > 0 {
		at.dir, at.base, at.chain = chain[top-1], names[top-1], chain[:top]
	}
	return at
}

// segments cuts a path; empty segments and "." vanish.
func segments(name string) []string {
	return slices.DeleteFunc(strings.Split(name, "/"), func(s string) bool { return s == "" || s == "." })
}

func (m *Model) find(name string, follow bool) (spot, *node, error) {
	at, err := m.walk(name, follow)
	if err == nil && !at.ok {
		err = syscall.ENOENT
	}
	if err != nil {
		return at, nil, err
	}
	return at, m.nodes[at.id], nil
}

func (m *Model) vacant(name string) (spot, error) {
	at, err := m.walk(name, false)
	if err == nil && at.ok {
		err = syscall.EEXIST
	}
	return at, err
}

func (m *Model) create(at spot, n *node) int {
	*m.last++
	id := *m.last
	n.links = 1
	if n.mode.IsDir() {
		n.entries = map[string]int{}
	}
	m.nodes[id] = n
	m.nodes[at.dir].entries[at.base] = id
	return id
}

func (m *Model) unlink(at spot) {
	n := m.nodes[at.id]
	delete(m.nodes[at.dir].entries, at.base)
	if n.links--; n.links > 0 {
		return
	}
	for name, id := range n.entries {
		m.unlink(spot{dir: at.id, base: name, id: id})
	}
	delete(m.nodes, at.id)
}

func (n *node) regular() error {
	switch {
	case n.mode.IsDir():
		return syscall.EISDIR
	case !n.mode.IsRegular():
		return syscall.EINVAL
	}
	return nil
}

// change gives a file new content, made from the old; a file that is not there is created if perm is not zero.
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

// Mkdir is [vfs.FS.Mkdir].
func (m *Model) Mkdir(name string, perm fs.FileMode) error {
	at, err := m.vacant(name)
	if err == nil {
		m.create(at, &node{mode: fs.ModeDir | perm})
	}
	return err
}

// MkdirAll is [vfs.FS.MkdirAll]. After an error some directories may be there.
func (m *Model) MkdirAll(name string, perm fs.FileMode) error {
	at, err := m.walk(name, true)
	switch {
	case err == nil && at.ok && m.nodes[at.id].mode.IsDir():
		return nil
	case err == nil && at.ok:
		return syscall.ENOTDIR
	case err != nil && err != syscall.ENOENT || name == "":
		return err
	case err != nil:
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

// displace tells whether n may take the place of what is at dst.
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
