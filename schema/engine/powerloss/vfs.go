package powerloss

import (
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

var (
	current atomic.Pointer[Host] // that is installed
	system  uintptr              // the VFS below ours
	ours    uintptr
	open    sync.Map // of uintptr to *descriptor, by the address of the engine's object
)

// install makes the host's VFS the default: the system's, but for opening and removing files.
func install(h *Host) error {
	tls := libc.NewTLS()
	defer tls.Close()
	if !current.CompareAndSwap(nil, h) {
		return errors.New("another Host is there")
	}

	if ours == 0 {
		system = sqlite3.Xsqlite3_vfs_find(tls, 0)
		ours = libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
		name, err := libc.CString("powerloss")
		if err != nil {
			return err
		}
		*at[sqlite3.Tsqlite3_vfs](ours) = *at[sqlite3.Tsqlite3_vfs](system)
		v := at[sqlite3.Tsqlite3_vfs](ours)
		v.FpNext, v.FzName = 0, name
		v.FxOpen, v.FxDelete = address(openFile), address(deleteFile)
	}

	if sqlite3.Xsqlite3_vfs_register(tls, ours, 1) != sqlite3.SQLITE_OK {
		return errors.New("the VFS cannot be registered")
	}
	return nil
}

func remove() {
	tls := libc.NewTLS()
	defer tls.Close()
	sqlite3.Xsqlite3_vfs_unregister(tls, ours)
	current.Store(nil)
}

// at returns the value at an address outside of Go's memory.
func at[T any](addr uintptr) *T { return *(**T)(unsafe.Pointer(&addr)) }

// view returns n bytes at such an address.
func view(addr uintptr, n int) []byte { return unsafe.Slice(at[byte](addr), n) }

// method returns the function at an address that the engine gave us.
func method[F any](addr uintptr) F { return *(*F)(unsafe.Pointer(&struct{ uintptr }{addr})) }

// address returns the address at which the engine can call a function, which must not be a closure.
func address[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// openFile opens a file as the system does, and gives it our methods.
func openFile(tls *libc.TLS, vfs, name, id uintptr, flags int32, out uintptr) int32 {
	xOpen := method[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](at[sqlite3.Tsqlite3_vfs](system).FxOpen)
	code := xOpen(tls, system, name, id, flags, out)
	if code != sqlite3.SQLITE_OK || name == 0 || flags&(sqlite3.SQLITE_OPEN_MAIN_DB|sqlite3.SQLITE_OPEN_WAL) == 0 {
		return code
	}
	h := current.Load()
	if h == nil {
		return code
	}

	d := h.opened(libc.GoString(name), id)
	d.methods = at[sqlite3.Tsqlite3_file](id).FpMethods
	table := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
	m := at[sqlite3.Tsqlite3_io_methods](table)
	*m = *at[sqlite3.Tsqlite3_io_methods](d.methods)
	m.FxClose, m.FxSync = address(closeFile), address(syncFile)
	if d.node != nil {
		m.FxWrite, m.FxTruncate = address(writeFile), address(truncateFile)
	}
	at[sqlite3.Tsqlite3_file](id).FpMethods = table
	return code
}

func deleteFile(tls *libc.TLS, vfs, name uintptr, dirSync int32) int32 {
	xDelete := method[func(*libc.TLS, uintptr, uintptr, int32) int32](at[sqlite3.Tsqlite3_vfs](system).FxDelete)
	code := xDelete(tls, system, name, dirSync)
	if h := current.Load(); h != nil && code == sqlite3.SQLITE_OK {
		h.deleted(libc.GoString(name))
	}
	return code
}

func closeFile(tls *libc.TLS, id uintptr) int32 {
	d, _ := descriptorOf(id)
	open.Delete(id)
	object := at[sqlite3.Tsqlite3_file](id)
	libc.Xfree(tls, object.FpMethods)
	object.FpMethods = d.methods
	return method[func(*libc.TLS, uintptr) int32](d.table().FxClose)(tls, id)
}

func writeFile(tls *libc.TLS, id, p uintptr, n int32, off int64) int32 {
	d, h := descriptorOf(id)
	h.mu.Lock()
	defer h.mu.Unlock()
	code := d.write(tls, id, p, n, off)
	if code != sqlite3.SQLITE_OK {
		return code
	}
	d.node.write(view(p, int(n)), off)
	if h.writes++; h.writes == h.dropping {
		h.drop(tls, id, d)
	}
	return code
}

func truncateFile(tls *libc.TLS, id uintptr, size int64) int32 {
	d, h := descriptorOf(id)
	h.mu.Lock()
	defer h.mu.Unlock()
	code := method[func(*libc.TLS, uintptr, int64) int32](d.table().FxTruncate)(tls, id, size)
	if code == sqlite3.SQLITE_OK {
		d.node.truncate(size)
	}
	return code
}

// syncFile never asks the system, so tests are quick.
func syncFile(tls *libc.TLS, id uintptr, flags int32) int32 {
	d, h := descriptorOf(id)
	if d.node == nil {
		return sqlite3.SQLITE_OK
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.syncs++; h.failing[h.syncs] {
		h.drop(tls, id, d)
	} else {
		d.node.sync()
	}
	if d.known != d.node.failures {
		d.known, d.node.reported = d.node.failures, true
		return sqlite3.SQLITE_IOERR_FSYNC
	}
	return sqlite3.SQLITE_OK
}

// drop has the disk refuse the dirty pages.
func (h *Host) drop(tls *libc.TLS, id uintptr, d *descriptor) {
	h.failed++
	dropped := d.node.fail(h.random)
	if !h.Forget {
		return
	}
	for _, page := range dropped {
		p := d.node.onDisk(page)
		copy(d.node.cache[page*pageSize:], p)
		if len(p) == 0 {
			continue
		}
		room := libc.Xmalloc(tls, libc.Tsize_t(len(p)))
		copy(view(room, len(p)), p)
		d.write(tls, id, room, int32(len(p)), page*pageSize)
		libc.Xfree(tls, room)
	}
}

func (d *descriptor) table() *sqlite3.Tsqlite3_io_methods {
	return at[sqlite3.Tsqlite3_io_methods](d.methods)
}

func (d *descriptor) write(tls *libc.TLS, id, p uintptr, n int32, off int64) int32 {
	return method[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](d.table().FxWrite)(tls, id, p, n, off)
}

// opened notes a file that was just opened. A file of another database has no node.
func (h *Host) opened(path string, id uintptr) *descriptor {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := &descriptor{host: h}
	open.Store(id, d)
	if path != h.path && path != h.path+"-wal" {
		return d
	}
	n := h.nodes[path]
	if n == nil {
		n = newNode()
		h.nodes[path] = n
	}
	d.node, d.known = n, n.failures
	if n.failures > 0 && !n.reported {
		d.known = -1
	}
	return d
}

// deleted notes that a file was removed. The disk may have it until the directory is synced.
func (h *Host) deleted(path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.nodes[path]
	if was == nil {
		return
	}
	n := newNode()
	if n.ghost = was.disk; was.ghost != nil {
		n.ghost = was.ghost
	}
	h.nodes[path] = n
}

func descriptorOf(id uintptr) (*descriptor, *Host) {
	v, ok := open.Load(id)
	if !ok {
		panic("powerloss: a file that has our methods and is not ours")
	}
	d := v.(*descriptor)
	return d, d.host
}
