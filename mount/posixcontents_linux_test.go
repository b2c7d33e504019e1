package mount_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

var longName = strings.Repeat("n", 256)

// posixContents read and write files.
var posixContents = []posixCall{
	{"create", func(p *posix) {
		fd := p.open("f", unix.O_CREAT|unix.O_RDWR, 0o640)
		p.write(fd, "hello")
		p.fstat(fd)
		p.close(fd)
		p.close(p.open("f", unix.O_CREAT|unix.O_EXCL|unix.O_RDWR, 0o640))
		p.close(p.open("f", unix.O_CREAT|unix.O_RDWR, 0o600))
		p.close(p.open("none", unix.O_RDONLY, 0))
		p.close(p.open("none/f", unix.O_CREAT|unix.O_RDWR, 0o600))
		p.close(p.open("f/f", unix.O_CREAT|unix.O_RDWR, 0o600))
		p.close(p.open(longName, unix.O_CREAT|unix.O_RDWR, 0o600))
		p.close(p.open(longName[1:], unix.O_CREAT|unix.O_RDWR, 0o600))
		p.close(p.open(".", unix.O_RDWR, 0))
		p.close(p.open("f", unix.O_DIRECTORY, 0))
		p.stat("f")
		p.read("f")
		p.list(".")
	}},
	{"truncate", func(p *posix) {
		fd := p.open("f", unix.O_CREAT|unix.O_RDWR, 0o600)
		p.write(fd, "hello, world")
		p.did("ftruncate", unix.Ftruncate(fd, 5))
		p.fstat(fd)
		p.read("f")
		p.did("ftruncate", unix.Ftruncate(fd, 10))
		p.read("f")
		p.did("ftruncate", unix.Ftruncate(fd, -1))
		p.write(fd, "!")
		p.read("f")
		p.close(fd)
		p.did("truncate", unix.Truncate(p.path("f"), 3))
		p.read("f")
		p.did("truncate", unix.Truncate(p.path("none"), 3))
		p.did("truncate", unix.Truncate(p.path("."), 3))
		p.close(p.open("f", unix.O_WRONLY|unix.O_TRUNC, 0))
		p.stat("f")
		p.close(p.open("f", unix.O_RDONLY|unix.O_TRUNC, 0))
	}},
	{"append", func(p *posix) {
		fd := p.open("f", unix.O_CREAT|unix.O_WRONLY|unix.O_APPEND, 0o600)
		other := p.open("f", unix.O_WRONLY, 0)
		for i := range 3 {
			p.write(fd, fmt.Sprint("a", i))
			n, err := unix.Pwrite(other, []byte("b"), int64(10*i))
			p.did("pwrite", err, n)
		}
		p.close(fd)
		p.close(other)
		p.read("f")
	}},
	{"holes", func(p *posix) {
		fd := p.open("f", unix.O_CREAT|unix.O_RDWR, 0o600)
		n, err := unix.Pwrite(fd, []byte("end"), 3<<20)
		p.did("pwrite", err, n)
		p.fstat(fd)
		for _, at := range []int64{0, 1, 1 << 20, 3 << 20, 3<<20 + 2, 3<<20 + 3, -1} {
			off, err := unix.Seek(fd, at, unix.SEEK_DATA)
			p.did(fmt.Sprint("seek data ", at), err, off)
			off, err = unix.Seek(fd, at, unix.SEEK_HOLE)
			p.did(fmt.Sprint("seek hole ", at), err, off)
		}
		p.did("fallocate", unix.Fallocate(fd, 0, 0, 4<<20))
		p.fstat(fd)
		p.did("fallocate keep", unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, 0, 8<<20))
		p.fstat(fd)
		p.did("fallocate punch", unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 3<<20, 2))
		p.did("fallocate punch", unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE, 3<<20, 2))
		p.did("fallocate zero", unix.Fallocate(fd, unix.FALLOC_FL_ZERO_RANGE, 4<<20, 1000))
		p.fstat(fd)
		p.did("fallocate nothing", unix.Fallocate(fd, 0, 0, 0))
		var buf [8]byte
		n, err = unix.Pread(fd, buf[:], 3<<20)
		p.did("pread", err, n, buf[:n])
		n, err = unix.Pread(fd, buf[:], 1<<30)
		p.did("pread", err, n)
		p.close(fd)
		p.close(p.open("f", unix.O_RDONLY, 0))
	}},
	{"limits", func(p *posix) {
		fd := p.open("f", unix.O_CREAT|unix.O_RDWR, 0o600)
		n, err := unix.Pwrite(fd, []byte("x"), -1)
		p.did("pwrite", err, n)
		p.close(fd)
	}},
	{"copy_file_range", func(p *posix) {
		text := strings.Repeat("0123456789", 200_000)
		a, b := p.open("a", unix.O_CREAT|unix.O_RDWR, 0o600), p.open("b", unix.O_CREAT|unix.O_RDWR, 0o600)
		p.write(a, text)
		for _, r := range [][3]int64{{0, 0, 1 << 30}, {10, 20, 1000}, {1 << 19, 1 << 20, 1 << 19}, {int64(len(text)), 0, 10}, {int64(len(text)) - 5, 7, 10}} {
			from, to := r[0], r[1]
			n, err := unix.CopyFileRange(a, &from, b, &to, int(r[2]), 0)
			p.did(fmt.Sprint("copy ", r), err, n, from, to)
			p.fstat(b)
			got, _ := os.ReadFile(p.path("b"))
			p.did("content", nil, len(got), bytes.Count(got, []byte("9")), bytes.Index(got, []byte("10")))
		}
		p.close(a)
		p.close(b)
	}},
	{"mmap", func(p *posix) {
		fd := p.open("f", unix.O_CREAT|unix.O_RDWR, 0o600)
		p.did("ftruncate", unix.Ftruncate(fd, 10_000))
		m, err := unix.Mmap(fd, 0, 10_000, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		p.did("mmap", err)
		p.poke(m[5000:], "mapped")
		p.did("msync", unix.Msync(m, unix.MS_SYNC))
		buf := make([]byte, 6)
		n, err := unix.Pread(fd, buf, 5000)
		p.did("pread", err, n, string(buf))
		n, err = unix.Pwrite(fd, []byte("by write"), 100)
		p.did("pwrite", err, n, p.peek(m[100:108]))
		p.poke(m[6000:], "later")
		p.did("munmap", unix.Munmap(m))
		p.close(fd)
		text, _ := os.ReadFile(p.path("f"))
		p.did("content", nil, len(text), bytes.Index(text, []byte("mapped")), bytes.Index(text, []byte("later")), bytes.Index(text, []byte("by write")))
	}},
	{"locks", func(p *posix) {
		a, b := p.open("f", unix.O_CREAT|unix.O_RDWR, 0o600), p.open("f", unix.O_RDWR, 0)
		p.did("flock", unix.Flock(a, unix.LOCK_EX|unix.LOCK_NB))
		p.did("flock", unix.Flock(b, unix.LOCK_EX|unix.LOCK_NB))
		p.did("flock", unix.Flock(a, unix.LOCK_UN))
		p.did("flock", unix.Flock(b, unix.LOCK_SH|unix.LOCK_NB))
		lock := unix.Flock_t{Type: unix.F_WRLCK, Len: 10}
		p.did("ofd", unix.FcntlFlock(uintptr(a), unix.F_OFD_SETLK, &lock))
		p.did("ofd", unix.FcntlFlock(uintptr(b), unix.F_OFD_SETLK, &lock))
		p.close(a)
		p.did("ofd", unix.FcntlFlock(uintptr(b), unix.F_OFD_SETLK, &lock))
		p.close(b)
	}},
	{"without a name", func(p *posix) {
		fd := p.open(".", unix.O_TMPFILE|unix.O_RDWR, 0o640)
		p.write(fd, "text")
		p.fstat(fd)
		p.list(".")
		p.did("link", unix.Linkat(fd, "", unix.AT_FDCWD, p.path("named"), unix.AT_EMPTY_PATH))
		p.fstat(fd)
		p.write(fd, ", more")
		p.close(fd)
		p.read("named")
		p.stat("named")
		fd = p.open(".", unix.O_TMPFILE|unix.O_RDWR|unix.O_EXCL, 0o640)
		p.did("link", unix.Linkat(fd, "", unix.AT_FDCWD, p.path("never"), unix.AT_EMPTY_PATH))
		p.close(fd)
		p.list(".")
	}},
	{"ioctl", func(p *posix) {
		fd := p.open("f", unix.O_CREAT|unix.O_RDWR, 0o600)
		_, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		p.did("ioctl", err)
		p.close(fd)
	}},
	{"direct", func(p *posix) {
		fd := p.open("f", unix.O_CREAT|unix.O_RDWR|unix.O_SYNC, 0o600)
		for i := range 20 {
			p.write(fd, fmt.Sprint(i))
		}
		p.did("fdatasync", unix.Fdatasync(fd))
		p.close(fd)
		p.read("f")
		d := p.open(".", unix.O_DIRECTORY, 0)
		p.did("fsync directory", unix.Fsync(d))
		p.close(d)
	}},
}
