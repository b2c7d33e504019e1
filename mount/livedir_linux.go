package mount

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sort"
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"

	"vfsdb/node"
	"vfsdb/tree"
)

// The kernel names a place in a listing by a number. Ours is a hash of the name before it, and a listing is in the order of
// the hashes. So a place means the same whatever names come and go, and however many programs read at once: a name that stays
// is listed once, as in other file systems that hash names. Two names of one directory have the same hash as often as one in
// 2^61 pairs does; then one of them may be left out at the border of two replies.

// lists are the listings that were begun last. They are safe for concurrent use.
type lists struct {
	mu     sync.Mutex
	seed   maphash.Seed
	byDir  map[node.Ino][]listed
	recent []node.Ino // oldest first
}

// listed is an entry of a listing.
type listed struct {
	place uint64
	node.Entry
}

// maxLists bounds the listings.
const maxLists = 16

// firstPlace is above those of . and ..
const firstPlace = 2

// list returns the entries of a directory: as they were when somebody began to read them, unless anew is set.
func (l *live) list(dir node.Ino, anew bool) ([]listed, error) {
	ls := &l.lists
	ls.mu.Lock()
	if ls.byDir == nil {
		ls.byDir, ls.seed = make(map[node.Ino][]listed), maphash.MakeSeed()
	}
	list, known := ls.byDir[dir]
	ls.mu.Unlock()
	if known && !anew {
		return list, nil
	}

	err := l.look(func(tx *tree.Tx) error {
		list = nil
		var inos []node.Ino
		for e, err := range tx.Entries(dir, "") {
			if err != nil {
				return err
			}
			list = append(list, listed{maphash.String(ls.seed, e.Name)>>2 + firstPlace + 1, e})
			inos = append(inos, e.Ino)
		}
		return tx.Prefetch(inos)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b listed) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.Name, b.Name)) })
	ls.put(dir, list)
	return list, nil
}

func (ls *lists) put(dir node.Ino, list []listed) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if i := slices.Index(ls.recent, dir); i >= 0 {
		ls.recent = slices.Delete(ls.recent, i, i+1)
	}
	ls.recent = append(ls.recent, dir)
	if len(ls.recent) > maxLists {
		delete(ls.byDir, ls.recent[0])
		ls.recent = slices.Delete(ls.recent, 0, 1)
	}
	ls.byDir[dir] = list
}

func (l *live) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	list, code := l.beginList(in, func(e fuse.DirEntry) bool { return out.AddDirEntry(e) })
	for _, e := range list {
		if !out.AddDirEntry(e.dirEntry()) {
			break
		}
	}
	return code
}

// beginList adds . and .. if they are asked for, and returns the entries that come next.
func (l *live) beginList(in *fuse.ReadIn, add func(fuse.DirEntry) bool) ([]listed, fuse.Status) {
	dir := l.ino(in.NodeId)
	for off, name := range []string{".", ".."} {
		if in.Offset > uint64(off) {
			continue
		}
		if !add(fuse.DirEntry{Name: name, Ino: uint64(dir), Mode: node.ModeDir, Off: uint64(off) + 1}) {
			return nil, fuse.OK
		}
	}
	list, err := l.list(dir, in.Offset == 0)
	if err != nil {
		return nil, status(err)
	}
	return list[sort.Search(len(list), func(i int) bool { return list[i].place > in.Offset }):], fuse.OK
}

func (e *listed) dirEntry() fuse.DirEntry {
	return fuse.DirEntry{Name: e.Name, Ino: uint64(e.Ino), Mode: uint32(e.Kind) << 12, Off: e.place}
}

// ReadDirPlus is ReadDir with what Lookup returns for each entry, so that the kernel need not ask. Entries that are gone by
// now are left out.
func (l *live) ReadDirPlus(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	dir := l.ino(in.NodeId)
	list, code := l.beginList(in, func(e fuse.DirEntry) bool { return out.AddDirLookupEntry(e) != nil })

	for len(list) > 0 && code.Ok() {
		part := list[:min(len(list), plusPart)]
		nodes, err := l.nodesOf(dir, part)
		if err != nil {
			return status(err)
		}
		for i := range part {
			if nodes[i].Ino != part[i].Ino {
				continue
			}
			entry := out.AddDirLookupEntry(part[i].dirEntry())
			if entry == nil {
				return code
			}
			if h, _ := l.inodes.mark(part[i].Ino); h == nil || !h.Dirty() { // else the kernel asks
				l.entry(entry, &nodes[i], node.Name{Dir: dir, Base: part[i].Name})
			}
		}
		list = list[len(part):]
	}
	return code
}

// plusPart is how many inodes are looked at together. A page of the kernel has room for about as many.
const plusPart = 24

// nodesOf returns the inodes of some entries; the zero one for an entry that is gone.
func (l *live) nodesOf(dir node.Ino, list []listed) (nodes [plusPart]node.Node, err error) {
	err = l.look(func(tx *tree.Tx) error {
		for i, e := range list {
			nodes[i] = node.Node{}
			n, err := shown(tx, node.Name{Dir: dir, Base: e.Name})
			if err != nil {
				return err
			}
			if n != nil {
				nodes[i] = *n
			}
		}
		return nil
	})
	return nodes, err
}
