package mount

import (
	"slices"
	"sync"
	"time"

	"vfsdb/node"
	"vfsdb/tree"
)

// inodes are those that the kernel knows. They are safe for concurrent use.
type inodes struct {
	open func(node.Ino, uint8, node.Name) *tree.Handle

	mu    sync.Mutex
	known map[node.Ino]*inode
	dirty []node.Ino     // written to since the last commit
	bytes int            // so much
	late  []node.Ino     // that were dirty when the kernel forgot them
	gone  []*tree.Handle // of inodes that the kernel has forgotten
	close sync.WaitGroup // of them
	soon  bool           // they will be closed
	idle  []node.Ino     // with handles that nothing but reads needs, oldest first
}

// An inode is one that the kernel knows.
type inode struct {
	lookups uint64
	name    node.Name   // by which it was found last
	others  []node.Name // by which it was found before
	kind    uint8
	handle  *tree.Handle // nil if it is not needed
	wrote   int64        // when it was written to last, in ns; 0 if that is in the transaction, or committed
	held    bool         // the handle keeps an inode that has no name
	rests   bool         // the handle has no memory for reads
	dirty   bool         // it is in the list
	gen     uint64       // how many inodes with this number were lost while the kernel knew them
	lost    bool         // the last one was
}

// maxIdle bounds the handles of files that were only read. Each has a chunk of up to 512 KiB.
const maxIdle = 32

// maxBytes bounds how much is written before a commit, beside the bound of each file.
const maxBytes = 64 << 20

// met counts a reply that has made the kernel know an inode. It returns the generation of the number.
func (is *inodes) met(n *node.Node, name node.Name) (gen uint64) {
	is.mu.Lock()
	defer is.mu.Unlock()
	i := is.of(n.Ino, n.Kind())
	if i.lost {
		*i = inode{kind: n.Kind(), lookups: i.lookups, gen: i.gen + 1}
	}
	i.lookups++
	i.found(name)
	return i.gen
}

// maxNames bounds the names that are known of an inode.
const maxNames = 16

// found notes a name that the kernel knows an inode by.
func (i *inode) found(name node.Name) {
	if i.name == name {
		return
	}
	i.others = slices.DeleteFunc(i.others, func(n node.Name) bool { return n == name })
	if i.name.Dir != 0 {
		i.others = append(i.others[max(0, len(i.others)-maxNames+2):], i.name)
	}
	i.name = name
}

// renamed notes that the kernel has given an inode another name.
func (is *inodes) renamed(ino node.Ino, old, now node.Name) {
	is.mu.Lock()
	defer is.mu.Unlock()
	if i := is.known[ino]; i != nil {
		i.found(now)
		i.others = slices.DeleteFunc(i.others, func(n node.Name) bool { return n == old })
	}
}

// entries returns the names by which the kernel knows inodes, and the directories among these.
func (is *inodes) entries() (names map[node.Name]node.Ino, dirs []node.Ino) {
	is.mu.Lock()
	defer is.mu.Unlock()
	names = make(map[node.Name]node.Ino, len(is.known))
	for ino, i := range is.known {
		for _, name := range append(slices.Clip(i.others), i.name) {
			if name.Dir != 0 {
				names[name] = ino
			}
		}
		if i.kind == node.KindDir {
			dirs = append(dirs, ino)
		}
	}
	return names, dirs
}

func (is *inodes) of(ino node.Ino, kind uint8) *inode {
	i := is.known[ino]
	if i == nil {
		if is.known == nil {
			is.known = make(map[node.Ino]*inode)
		}
		i = &inode{kind: kind}
		is.known[ino] = i
	}
	return i
}

// forget undoes a number of replies. After the last one the kernel uses the inode no more.
func (is *inodes) forget(ino node.Ino, lookups uint64) {
	is.mu.Lock()
	defer is.mu.Unlock()
	if i := is.known[ino]; i != nil {
		i.lookups -= min(lookups, i.lookups)
		is.forgotten(ino, i)
		is.closeSoon()
	}
}

// forgotten drops an inode if the kernel knows it no more.
func (is *inodes) forgotten(ino node.Ino, i *inode) {
	switch {
	case i.lookups > 0:
	case i.dirty, i.handle != nil && i.kind == node.KindFile && i.handle.Dirty():
		is.late = append(is.late, ino) // it may be found again before it is committed, and a commit may fail
	default:
		delete(is.known, ino)
		if i.handle != nil {
			is.gone = append(is.gone, i.handle)
		}
	}
}

// closeSoon has the handles closed that are not needed any more: what they keep cannot be collected before, and there may be
// no later change.
func (is *inodes) closeSoon() {
	if len(is.gone) > 0 && !is.soon {
		is.soon = true
		is.close.Go(is.closeForgotten)
	}
}

// forgetLate forgets inodes that were dirty when the kernel forgot them.
func (is *inodes) forgetLate() {
	is.mu.Lock()
	defer is.mu.Unlock()
	list := is.late
	is.late = nil
	for _, ino := range list {
		if i := is.known[ino]; i != nil {
			is.forgotten(ino, i)
		}
	}
}

// nameOf returns the name by which an inode was found last.
func (is *inodes) nameOf(ino node.Ino) (name node.Name) {
	is.mu.Lock()
	defer is.mu.Unlock()
	if i := is.known[ino]; i != nil {
		name = i.name
	}
	return name
}

// knows reports whether the kernel knows an inode.
func (is *inodes) knows(ino node.Ino) bool {
	is.mu.Lock()
	defer is.mu.Unlock()
	return is.known[ino] != nil
}

// all returns the inodes that the kernel knows.
func (is *inodes) all() []node.Ino {
	is.mu.Lock()
	defer is.mu.Unlock()
	list := make([]node.Ino, 0, len(is.known))
	for ino := range is.known {
		list = append(list, ino)
	}
	return list
}

// handle returns the handle of a file, which it opens if need be; nil if the file was lost.
func (is *inodes) handle(ino node.Ino) *tree.Handle {
	is.mu.Lock()
	defer is.mu.Unlock()
	i := is.of(ino, node.KindFile)
	if (i.handle == nil || i.rests) && !i.lost {
		is.trim()
		if i.rests = false; i.handle == nil {
			i.handle = is.open(ino, i.kind, i.name)
		}
		is.idle = append(is.idle, ino)
	}
	return i.handle
}

// trim closes the handles that were opened first, once there are many. One that holds an inode is replaced by a new one.
func (is *inodes) trim() {
	for try := 0; len(is.idle) > maxIdle && try < maxIdle; try++ {
		ino := is.idle[0]
		is.idle = is.idle[1:]
		i := is.known[ino]
		switch {
		case i == nil || i.handle == nil:
		case i.dirty || i.wrote != 0 || i.handle.Dirty():
			is.idle = append(is.idle, ino)
		default:
			is.gone = append(is.gone, i.handle)
			if i.rests, i.handle = i.held, nil; i.held {
				i.handle = is.open(ino, i.kind, node.Name{})
			}
		}
	}
	if len(is.gone) > maxIdle {
		is.closeSoon()
	}
}

// hold keeps an inode that has lost its last name, as long as the kernel knows it.
func (is *inodes) hold(ino node.Ino) {
	is.mu.Lock()
	defer is.mu.Unlock()
	i := is.known[ino]
	if i == nil {
		return
	}
	i.held = true
	if i.handle == nil {
		i.handle, i.rests = is.open(ino, i.kind, node.Name{}), true
	}
}

// names returns the inodes that the kernel knows and nothing holds, with the names by which they were found last.
func (is *inodes) names() map[node.Ino]node.Name {
	is.mu.Lock()
	defer is.mu.Unlock()
	names := make(map[node.Ino]node.Name, len(is.known))
	for ino, i := range is.known {
		if !i.held && i.name.Dir != 0 {
			names[ino] = i.name
		}
	}
	return names
}

// earlyBytes is how much is written until a commit begins beside the writes that go on: half of the bound of one file, so that
// a program which writes much seldom has to wait.
const earlyBytes = 4 << 20

// written notes that so many bytes were written to a file. It reports whether that is the first since the last commit, whether
// it is so much that the next one may begin, and whether it is time for it.
func (is *inodes) written(ino node.Ino, bytes int) (first, much, full bool) {
	is.mu.Lock()
	defer is.mu.Unlock()
	i := is.of(ino, node.KindFile)
	if i.lost {
		return false, false, false
	}
	i.wrote = time.Now().UnixNano()
	first = len(is.dirty) == 0
	if !i.dirty {
		i.dirty = true
		is.dirty = append(is.dirty, ino)
	}
	much = is.bytes < earlyBytes && is.bytes+bytes >= earlyBytes
	is.bytes += bytes
	return first, much, is.bytes > maxBytes
}

// takeDirty returns the files that were written to since the last commit.
func (is *inodes) takeDirty() []node.Ino {
	is.mu.Lock()
	defer is.mu.Unlock()
	list := is.dirty
	is.dirty, is.bytes = nil, 0
	for _, ino := range list {
		if i := is.known[ino]; i != nil {
			i.dirty = false
		}
	}
	return list
}

// putDirty undoes takeDirty.
func (is *inodes) putDirty(list []node.Ino) {
	is.mu.Lock()
	defer is.mu.Unlock()
	for _, ino := range list {
		if i := is.known[ino]; i != nil && !i.dirty && !i.lost {
			i.dirty = true
			is.dirty = append(is.dirty, ino)
		}
	}
}

// mark returns the handle of an inode, if it has one, and when it was written to; 0 if that shows in its node.
func (is *inodes) mark(ino node.Ino) (h *tree.Handle, wrote int64) {
	is.mu.Lock()
	defer is.mu.Unlock()
	if i := is.known[ino]; i != nil && i.handle != nil && i.kind == node.KindFile {
		return i.handle, i.wrote
	}
	return nil, 0
}

// folded notes that the writes to a file are in the transaction.
func (is *inodes) folded(ino node.Ino) {
	is.mu.Lock()
	defer is.mu.Unlock()
	if i := is.known[ino]; i != nil {
		i.wrote = 0
	}
}

// closeForgotten closes the handles that are not needed any more. It may commit.
func (is *inodes) closeForgotten() {
	is.mu.Lock()
	list := is.gone
	is.gone, is.soon = nil, false
	is.mu.Unlock()
	for _, h := range list {
		_ = h.Close()
	}
}

// closeAll closes all handles.
func (is *inodes) closeAll() {
	is.mu.Lock()
	for _, i := range is.known {
		if i.handle != nil {
			is.gone = append(is.gone, i.handle)
			i.handle = nil
		}
	}
	is.mu.Unlock()
	is.closeForgotten()
	is.close.Wait()
}
