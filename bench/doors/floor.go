//go:build linux

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// onFloor does a work on a file system that does no more than FUSE asks for: maps in memory, served by the same library with
// the options of a live mount. No mount can be quicker than that.
func onFloor(ctx context.Context, b *bench, work, _ string) (s sheet, err error) {
	dir, err := os.MkdirTemp(b.dir, "floor-")
	if err != nil {
		return nil, err
	}
	end, err := serveFloor(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end(), os.Remove(dir)) }()

	cmd := exec.CommandContext(ctx, "sh", "-c", `cd "$1" && exec "$2" work "$3" "$4"`, "sh", dir, b.self, work, b.sheet)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return b.result()
}

// serveFloor mounts a new floor on a directory until end is called.
func serveFloor(dir string) (end func() error, err error) {
	server, err := fuse.NewServer(newFloor(), dir, &fuse.MountOptions{
		FsName: "floor", Name: "floor", Options: []string{"default_permissions"},
		DirectMount: true, DirectMountStrict: true, AllowOther: true,
		DirectMountFlags: syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOATIME,
		MaxWrite:         blockSize, MaxReadAhead: blockSize, MaxBackground: 32,
		EnableSymlinkCaching: true, ExplicitDataCacheControl: true,
		ExtraCapabilities: fuse.CAP_HANDLE_KILLPRIV_V2 | fuse.CAP_READDIRPLUS_AUTO,
	})
	if err != nil {
		return nil, err
	}
	go server.Serve()
	return server.Unmount, server.WaitMount()
}

// forever is how long the kernel caches names and attributes.
const forever = 1 << 20 * time.Hour

// blockSize is the most that the kernel reads or writes at a time.
const blockSize = 1 << 20

// A floor is a file system of files and directories in memory. Its listings are in the order of their making.
type floor struct {
	fuse.RawFileSystem // refuses all else with ENOSYS

	mu    sync.Mutex
	files map[uint64]*file
	last  uint64 // the number that was given last
}

// A file has a content, in blocks of blockSize but for the last one. Or it is a directory, with names and the list of them; a
// name that is gone is "" in the list.
type file struct {
	attr  fuse.Attr
	text  [][]byte
	names map[string]*file
	list  []fuse.DirEntry
}

func newFloor() *floor {
	root := &file{attr: fuse.Attr{Ino: fuse.FUSE_ROOT_ID, Mode: syscall.S_IFDIR | 0o755, Nlink: 2}, names: make(map[string]*file)}
	return &floor{RawFileSystem: fuse.NewDefaultRawFileSystem(), files: map[uint64]*file{root.attr.Ino: root}, last: root.attr.Ino}
}

func (f *floor) reply(out *fuse.EntryOut, n *file) {
	out.NodeId, out.Attr = n.attr.Ino, n.attr
	out.SetEntryTimeout(forever)
	out.SetAttrTimeout(forever)
}

func (f *floor) Lookup(_ <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.files[h.NodeId].names[name]; n != nil {
		f.reply(out, n)
	} else {
		out.SetEntryTimeout(forever)
	}
	return fuse.OK
}

func (f *floor) make(h *fuse.InHeader, name string, mode uint32, out *fuse.EntryOut) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir := f.files[h.NodeId]
	if dir.names[name] != nil {
		return fuse.Status(syscall.EEXIST)
	}
	f.last++
	n := &file{attr: fuse.Attr{Ino: f.last, Mode: mode, Nlink: 1}, names: make(map[string]*file)}
	f.files[f.last], dir.names[name] = n, n
	dir.list = append(dir.list, fuse.DirEntry{Name: name, Ino: f.last, Mode: mode, Off: uint64(len(dir.list)) + 1})
	f.reply(out, n)
	return fuse.OK
}

func (f *floor) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	return f.make(&in.InHeader, name, in.Mode, out)
}

func (f *floor) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return f.make(&in.InHeader, name, syscall.S_IFDIR|in.Mode, out)
}

func (f *floor) Unlink(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir := f.files[h.NodeId]
	n := dir.names[name]
	if n == nil {
		return fuse.ENOENT
	}
	delete(dir.names, name)
	for i := range dir.list {
		if dir.list[i].Ino == n.attr.Ino {
			dir.list[i].Name = ""
		}
	}
	n.attr.Nlink = 0
	return fuse.OK
}

func (f *floor) Rmdir(cancel <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return f.Unlink(cancel, h, name)
}

func (f *floor) Forget(id, _ uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.files[id]; n != nil && n.attr.Nlink == 0 {
		delete(f.files, id)
	}
}

func (f *floor) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	out.Attr = f.files[in.NodeId].attr
	out.SetTimeout(forever)
	return fuse.OK
}

func (f *floor) GetXAttr(<-chan struct{}, *fuse.InHeader, string, []byte) (uint32, fuse.Status) {
	return 0, fuse.ENODATA
}

func (f *floor) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.files[in.NodeId]
	buf = buf[:min(uint64(len(buf)), n.attr.Size-min(in.Offset, n.attr.Size))]
	for done := 0; done < len(buf); {
		at := in.Offset + uint64(done)
		done += copy(buf[done:], n.text[at/blockSize][at%blockSize:])
	}
	return fuse.ReadResultData(buf), fuse.OK
}

// Write takes what comes at the end of the file.
func (f *floor) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.files[in.NodeId]
	if in.Offset != n.attr.Size {
		return 0, fuse.EINVAL
	}
	for rest := data; len(rest) > 0; {
		last := len(n.text) - 1
		if n.attr.Size%blockSize == 0 {
			n.text, last = append(n.text, nil), last+1
		}
		part := rest[:min(len(rest), blockSize-len(n.text[last]))]
		n.text[last], rest = append(n.text[last], part...), rest[len(part):]
		n.attr.Size += uint64(len(part))
	}
	return uint32(len(data)), fuse.OK
}

func (f *floor) ReadDirPlus(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir := f.files[in.NodeId]
	for _, e := range dir.list[min(in.Offset, uint64(len(dir.list))):] {
		if e.Name == "" {
			continue
		}
		entry := out.AddDirLookupEntry(e)
		if entry == nil {
			break
		}
		f.reply(entry, f.files[e.Ino])
	}
	return fuse.OK
}

func (f *floor) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir := f.files[in.NodeId]
	for _, e := range dir.list[min(in.Offset, uint64(len(dir.list))):] {
		if e.Name != "" && !out.AddDirEntry(e) {
			break
		}
	}
	return fuse.OK
}

func (f *floor) Open(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.ENOSYS }

func (f *floor) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.ENOSYS }

func (f *floor) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }
func (f *floor) Fsync(<-chan struct{}, *fuse.FsyncIn) fuse.Status { return fuse.OK }
