package mount_test

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// posixNames make, change and list names.
var posixNames = []posixCall{
	{"directories", func(p *posix) {
		p.did("mkdir", unix.Mkdir(p.path("d"), 0o750))
		p.did("mkdir", unix.Mkdir(p.path("d"), 0o750))
		p.did("mkdir", unix.Mkdir(p.path("none/d"), 0o750))
		p.did("mkdir", unix.Mkdir(p.path(longName), 0o750))
		p.did("mkdir", unix.Mkdir(p.path("d/e"), 0o700))
		p.stat("d")
		p.did("rmdir full", unix.Rmdir(p.path("d")))
		p.did("unlink directory", unix.Unlink(p.path("d/e")))
		p.did("rmdir none", unix.Rmdir(p.path("d/none")))
		p.did("rmdir dot", unix.Rmdir(p.path("d")+"/."))
		p.did("rmdir dotdot", unix.Rmdir(p.path("d")+"/e/.."))
		fd := p.open("d/e", unix.O_DIRECTORY, 0)
		p.did("rmdir", unix.Rmdir(p.path("d/e")))
		_, err := unix.Openat(fd, "new", unix.O_CREAT|unix.O_RDWR, 0o600)
		p.did("create in a removed directory", err)
		p.close(fd)
		p.list("d")
		p.did("rmdir file", unix.Rmdir(p.path("f")))
	}},
	{"links", func(p *posix) {
		fd := p.open("f", unix.O_CREAT|unix.O_RDWR, 0o600)
		p.write(fd, "text")
		p.did("link", unix.Link(p.path("f"), p.path("g")))
		p.did("link", unix.Link(p.path("f"), p.path("g")))
		p.did("link", unix.Link(p.path("none"), p.path("h")))
		p.did("link", unix.Link(p.path("f"), p.path("none/h")))
		p.did("link directory", unix.Link(p.path("."), p.path("h")))
		p.did("link", unix.Link(p.path("f"), p.path(longName)))
		p.fstat(fd)
		p.write(fd, " and more")
		p.read("g")
		p.did("unlink", unix.Unlink(p.path("f")))
		p.fstat(fd)
		p.read("g")
		p.did("unlink", unix.Unlink(p.path("g")))
		p.fstat(fd)
		p.write(fd, ", unlinked")
		buf := make([]byte, 100)
		n, err := unix.Pread(fd, buf, 0)
		p.did("pread", err, string(buf[:max(n, 0)]))
		p.did("fchmod", unix.Fchmod(fd, 0o444))
		p.fstat(fd)
		p.close(fd)
		p.did("unlink", unix.Unlink(p.path("g")))
		p.list(".")
	}},
	{"symlinks", func(p *posix) {
		p.did("symlink", unix.Symlink("target", p.path("s")))
		p.did("symlink", unix.Symlink("target", p.path("s")))
		p.did("symlink", unix.Symlink("", p.path("t")))
		p.did("symlink", unix.Symlink(strings.Repeat("x", 5000), p.path("t")))
		p.did("symlink", unix.Symlink("loop", p.path("loop")))
		buf := make([]byte, 100)
		n, err := unix.Readlink(p.path("s"), buf)
		p.did("readlink", err, string(buf[:max(n, 0)]))
		_, err = unix.Readlink(p.path("."), buf)
		p.did("readlink", err)
		p.stat("s")
		p.close(p.open("s", unix.O_RDONLY, 0))
		p.close(p.open("loop", unix.O_RDONLY, 0))
		p.close(p.open("s", unix.O_RDONLY|unix.O_NOFOLLOW, 0))
		p.close(p.open("s", unix.O_CREAT|unix.O_WRONLY, 0o600))
		p.stat("target")
		p.did("link a symlink", unix.Link(p.path("s"), p.path("s2")))
		p.stat("s2")
		p.did("lutimes", unix.Lutimes(p.path("s"), []unix.Timeval{{Sec: 1}, {Sec: 2}}))
		p.mtime("s")
		p.did("lchown", unix.Lchown(p.path("s"), 7, 8))
		p.stat("s")
	}},
	{"nodes", func(p *posix) {
		for i, mode := range []uint32{unix.S_IFIFO, unix.S_IFSOCK, unix.S_IFREG, unix.S_IFCHR, unix.S_IFBLK} {
			name := fmt.Sprint("n", i)
			p.did(fmt.Sprintf("mknod %#o", mode), unix.Mknod(p.path(name), mode|0o640, int(unix.Mkdev(8, 3))))
			p.did("mknod again", unix.Mknod(p.path(name), mode|0o640, 0))
			if mode == unix.S_IFCHR || mode == unix.S_IFBLK {
				p.stat(name)
			} else {
				var st unix.Stat_t
				p.did("stat", unix.Lstat(p.path(name), &st), st.Mode, st.Nlink)
			}
		}
		p.list(".")
		fd := p.open("n0", unix.O_RDWR|unix.O_NONBLOCK, 0)
		p.write(fd, "through the fifo")
		p.close(fd)
	}},
	{"rename", func(p *posix) {
		for _, name := range []string{"a", "b"} {
			fd := p.open(name, unix.O_CREAT|unix.O_RDWR, 0o600)
			p.write(fd, name)
			p.close(fd)
		}
		for _, name := range []string{"d", "d/sub", "e", "full", "full/x"} {
			p.did("mkdir", unix.Mkdir(p.path(name), 0o755))
		}
		for _, r := range [][2]string{
			{"a", "b"},
			{"none", "b"},
			{"b", "none/b"},
			{"b", "d"},
			{"d", "b"},
			{"d", "e"},
			{"e", "full"},
			{"e", "e/sub/new"},
			{"e/sub", "e"},
			{"b", "b"},
			{"b", longName},
			{"full/x", "y"},
			{".", "z"},
			{"b", "e/sub/b"},
			{"y", "e/sub/y"},
			{"e", "moved"},
		} {
			p.did("rename "+r[0][:min(len(r[0]), 9)], unix.Rename(p.path(r[0]), p.path(r[1])))
		}
		p.list(".")
		p.list("moved/sub")
		p.read("moved/sub/b")
		p.did("link", unix.Link(p.path("moved/sub/b"), p.path("l")))
		p.did("rename a name to another of the same file", unix.Rename(p.path("moved/sub/b"), p.path("l")))
		p.list("moved/sub")
		for _, flags := range []uint{unix.RENAME_NOREPLACE, unix.RENAME_EXCHANGE, unix.RENAME_NOREPLACE | unix.RENAME_EXCHANGE} {
			for _, r := range [][2]string{{"l", "full"}, {"l", "none"}, {"none", "l"}, {"none", "none2"}, {"full", "moved"}, {"moved", "moved/sub"}} {
				err := unix.Renameat2(unix.AT_FDCWD, p.path(r[0]), unix.AT_FDCWD, p.path(r[1]), flags)
				p.did(fmt.Sprint("rename ", flags, r), err)
			}
			p.list(".")
			p.list("full")
			p.list("moved")
		}
	}},
	{"open and renamed", func(p *posix) {
		a, b := p.open("a", unix.O_CREAT|unix.O_RDWR, 0o600), p.open("b", unix.O_CREAT|unix.O_RDWR, 0o600)
		p.write(a, "a")
		p.write(b, "b")
		p.did("rename", unix.Rename(p.path("a"), p.path("b")))
		p.write(a, "aa")
		p.write(b, "bb")
		p.fstat(a)
		p.fstat(b)
		p.read("b")
		p.close(a)
		p.close(b)
	}},
	{"listing", func(p *posix) {
		for i := range 300 {
			fd, err := unix.Open(p.path(fmt.Sprint("name-", i)), unix.O_CREAT|unix.O_WRONLY, 0o600)
			if err != nil {
				p.did("create", err)
			}
			_ = unix.Close(fd)
		}
		f, err := os.Open(p.dir)
		p.did("open", err)
		seen := make(map[string]int)
		for i := 0; ; i++ {
			names, _ := f.Readdirnames(7)
			if len(names) == 0 {
				break
			}
			for _, name := range names {
				seen[name]++
				if i%2 == 0 {
					_ = unix.Unlink(p.path(name))
				} else {
					_ = unix.Rename(p.path(name), p.path(strings.Replace(name, "name", "other", 1)))
				}
			}
		}
		_ = f.Close()
		twice := 0
		for name, n := range seen {
			if n > 1 && strings.HasPrefix(name, "name") {
				twice++
			}
		}
		p.did("seen", nil, slices.Max([]int{len(seen), 300}) >= 300, twice)
		list, err := os.ReadDir(p.dir)
		p.did("left", err, slices.ContainsFunc(list, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "name") }))
	}},
}
