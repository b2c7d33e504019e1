package mount_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
)

// A posix makes calls in a directory, and writes down what they return.
type posix struct {
	dir string
	out *bytes.Buffer
}

func (p *posix) path(name string) string { return filepath.Join(p.dir, name) }

// did notes the outcome of a call.
func (p *posix) did(call string, err error, results ...any) {
	fmt.Fprintf(p.out, "%s: %v", call, err)
	if err == nil {
		for _, r := range results {
			fmt.Fprintf(p.out, " %v", r)
		}
	}
	p.out.WriteByte('\n')
}

// open opens a file, and notes whether that worked.
func (p *posix) open(name string, flags int, perm uint32) int {
	fd, err := unix.Open(p.path(name), flags|unix.O_CLOEXEC, perm)
	p.did(fmt.Sprintf("open %.40s %#x %#o", name, flags, perm), err)
	return fd
}

func (p *posix) close(fd int) {
	if fd >= 0 {
		p.did("close", unix.Close(fd))
	}
}

// stat notes what does not depend on where and when the file is.
func (p *posix) stat(name string) {
	var st unix.Stat_t
	err := unix.Lstat(p.path(name), &st)
	p.did("stat "+name, err, statOf(&st))
}

func (p *posix) fstat(fd int) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	p.did("fstat", err, statOf(&st))
}

func statOf(st *unix.Stat_t) string {
	size, nlink := st.Size, st.Nlink
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		size, nlink = 0, 1
	}
	return fmt.Sprintf("%#o nlink %d uid %d gid %d size %d rdev %d", st.Mode, nlink, st.Uid, st.Gid, size, st.Rdev)
}

func (p *posix) mtime(name string) {
	var st unix.Stat_t
	err := unix.Lstat(p.path(name), &st)
	p.did("mtime "+name, err, st.Mtim.Sec, st.Mtim.Nsec)
}

func (p *posix) list(name string) {
	list, err := os.ReadDir(p.path(name))
	var names []string
	for _, e := range list {
		names = append(names, e.Name()+" "+e.Type().String())
	}
	if pe, ok := err.(*os.PathError); ok {
		err = pe.Err
	}
	p.did("list "+name, err, names)
}

func (p *posix) read(name string) {
	text, err := os.ReadFile(p.path(name))
	if pe, ok := err.(*os.PathError); ok {
		err = pe.Err
	}
	p.did("read "+name, err, len(text), fmt.Sprintf("%.80q", text))
}

func (p *posix) write(fd int, text string) {
	n, err := unix.Write(fd, []byte(text))
	p.did(fmt.Sprintf("write %d", len(text)), err, n)
}

// Each call on the mount has the outcome that it has on the host, errno by errno.
func TestLivePosixTable(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a mount by a user refuses nothing to that user")
	}
	fsys := vfstest.New(t)
	dir, _ := live(t, fsys, nil)
	host := t.TempDir()
	require.NoError(t, os.Chmod(host, 0o755))
	require.NoError(t, os.Chmod(dir, 0o755))

	for _, tt := range posixCalls {
		t.Run(tt.name, func(t *testing.T) {
			var outs []string
			for _, where := range []string{host, dir} {
				p := &posix{filepath.Join(where, tt.name), new(bytes.Buffer)}
				require.NoError(t, os.Mkdir(p.dir, 0o755))
				tt.run(p)
				outs = append(outs, p.out.String())
			}
			require.Equal(t, outs[0], outs[1])
		})
	}
}

var longName = strings.Repeat("n", 256)

var posixCalls = []struct {
	name string
	run  func(*posix)
}{
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
	{"attributes", func(p *posix) {
		fd := p.open("f", unix.O_CREAT|unix.O_RDWR, 0o600)
		for _, mode := range []uint32{0, 0o777, 0o4755, 0o2755, 0o1644, 0o7777} {
			p.did("chmod", unix.Chmod(p.path("f"), mode))
			p.stat("f")
			p.did("chown", unix.Chown(p.path("f"), 1000, 1001))
			p.stat("f")
		}
		p.did("chmod", unix.Fchmod(fd, 0o6711))
		p.did("chown", unix.Fchown(fd, -1, 5))
		p.fstat(fd)
		p.did("chmod", unix.Chmod(p.path("none"), 0o600))
		p.did("chown", unix.Chown(p.path("none"), 1, 1))
		for _, times := range [][]unix.Timespec{
			{{Sec: 1, Nsec: 2}, {Sec: 1_600_000_000, Nsec: 123_456_789}},
			{{Nsec: unix.UTIME_OMIT}, {Nsec: unix.UTIME_OMIT}},
			{{Sec: 5}, {Nsec: unix.UTIME_OMIT}},
			{{Nsec: unix.UTIME_OMIT}, {Sec: -5, Nsec: 5}},
			{{Sec: 0, Nsec: 1_000_000_000}, {}},
		} {
			p.did("utimens", unix.UtimesNanoAt(unix.AT_FDCWD, p.path("f"), times, 0))
			p.mtime("f")
		}
		p.write(fd, "then written")
		p.did("utimens", unix.UtimesNanoAt(unix.AT_FDCWD, p.path("f"), []unix.Timespec{{Sec: 7}, {Sec: 8}}, 0))
		p.mtime("f")
		p.did("fsync", unix.Fsync(fd))
		p.mtime("f")
		p.read("f")
		p.close(fd)
	}},
	{"setgid directory", func(p *posix) {
		p.did("mkdir", unix.Mkdir(p.path("d"), 0o755))
		p.did("chown", unix.Chown(p.path("d"), 0, 42))
		p.did("chmod", unix.Chmod(p.path("d"), 0o2755))
		p.close(p.open("d/f", unix.O_CREAT|unix.O_RDWR, 0o640))
		p.did("mkdir", unix.Mkdir(p.path("d/e"), 0o755))
		p.did("symlink", unix.Symlink("x", p.path("d/s")))
		for _, name := range []string{"d", "d/f", "d/e", "d/s"} {
			p.stat(name)
		}
	}},
	{"umask", func(p *posix) {
		defer unix.Umask(unix.Umask(0o027))
		p.close(p.open("f", unix.O_CREAT|unix.O_RDWR, 0o666))
		p.did("mkdir", unix.Mkdir(p.path("d"), 0o777))
		p.stat("f")
		p.stat("d")
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
		copy(m[5000:], "mapped")
		p.did("msync", unix.Msync(m, unix.MS_SYNC))
		buf := make([]byte, 6)
		n, err := unix.Pread(fd, buf, 5000)
		p.did("pread", err, n, string(buf))
		n, err = unix.Pwrite(fd, []byte("by write"), 100)
		p.did("pwrite", err, n, string(m[100:108]))
		copy(m[6000:], "later")
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
	{"attributes of users", func(p *posix) {
		p.close(p.open("f", unix.O_CREAT|unix.O_RDWR, 0o600))
		p.did("symlink", unix.Symlink("f", p.path("s")))
		buf := make([]byte, 100)
		get := func(name, attr string, room int) {
			n, err := unix.Lgetxattr(p.path(name), attr, buf[:room])
			p.did("get "+attr, err, n, string(buf[:max(0, min(n, room))]))
		}
		for _, name := range []string{"f", ".", "s"} {
			p.did("set", unix.Lsetxattr(p.path(name), "user.a", []byte("value"), 0))
			p.did("set again", unix.Lsetxattr(p.path(name), "user.a", []byte("other"), unix.XATTR_CREATE))
			p.did("set none", unix.Lsetxattr(p.path(name), "user.b", []byte("other"), unix.XATTR_REPLACE))
			p.did("set empty", unix.Lsetxattr(p.path(name), "user.empty", nil, 0))
			p.did("set without a space", unix.Lsetxattr(p.path(name), "a", []byte("x"), 0))
			for _, attr := range []string{"user.a", "user.none", "user.empty"} {
				get(name, attr, 100)
				get(name, attr, 0)
				get(name, attr, 2)
			}
			n, err := unix.Llistxattr(p.path(name), buf)
			list := strings.Split(string(buf[:max(0, n)]), "\x00")
			slices.Sort(list)
			p.did("list", err, list)
			p.did("remove", unix.Lremovexattr(p.path(name), "user.a"))
			p.did("remove again", unix.Lremovexattr(p.path(name), "user.a"))
			get(name, "user.a", 100)
		}
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
	{"access", func(p *posix) {
		p.close(p.open("f", unix.O_CREAT|unix.O_RDWR, 0o600))
		for _, mode := range []uint32{unix.F_OK, unix.R_OK, unix.W_OK, unix.X_OK} {
			p.did("access", unix.Access(p.path("f"), mode))
			p.did("access", unix.Access(p.path("none"), mode))
		}
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
	{"permissions", func(p *posix) {
		for _, name := range []string{"mine", "theirs"} {
			p.did("mkdir", unix.Mkdir(p.path(name), 0o755))
		}
		p.did("chmod", unix.Chmod(p.path("theirs"), 0o1777))
		p.close(p.open("mine/f", unix.O_CREAT|unix.O_RDWR, 0o600))
		p.close(p.open("theirs/f", unix.O_CREAT|unix.O_RDWR, 0o666))
		fd := p.open("theirs/suid", unix.O_CREAT|unix.O_RDWR, 0o600)
		p.write(fd, "program")
		p.close(fd)
		p.did("chmod", unix.Chmod(p.path("theirs/suid"), 0o6777))
		as(65534, func() {
			p.close(p.open("mine/f", unix.O_RDONLY, 0))
			p.close(p.open("mine/g", unix.O_CREAT|unix.O_RDWR, 0o600))
			p.did("unlink", unix.Unlink(p.path("mine/f")))
			p.did("unlink sticky", unix.Unlink(p.path("theirs/f")))
			p.did("chmod", unix.Chmod(p.path("theirs/f"), 0o777))
			p.did("chown", unix.Chown(p.path("theirs/f"), 65534, -1))
			p.did("utimens", unix.UtimesNanoAt(unix.AT_FDCWD, p.path("theirs/suid"), []unix.Timespec{{Sec: 1}, {Sec: 2}}, 0))
			fd := p.open("theirs/suid", unix.O_WRONLY, 0)
			p.stat("theirs/suid")
			p.write(fd, "x")
			p.stat("theirs/suid")
			p.close(fd)
			p.close(p.open("theirs/own", unix.O_CREAT|unix.O_RDWR, 0o640))
			p.stat("theirs/own")
		})
		p.did("chmod", unix.Chmod(p.path("theirs/suid"), 0o6777))
		as(65534, func() { p.did("truncate", unix.Truncate(p.path("theirs/suid"), 1)) })
		p.stat("theirs/suid")
		p.did("chmod", unix.Chmod(p.path("theirs/suid"), 0o6777))
		p.did("chown", unix.Chown(p.path("theirs/suid"), 1, 1))
		p.stat("theirs/suid")
	}},
}

// as runs fn with the rights of another user, on a thread that ends with it.
func as(uid int, fn func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		lockThread()
		_, _, err := syscall.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0)
		if err == 0 {
			_, _, err = syscall.RawSyscall(unix.SYS_SETRESGID, uintptr(uid), uintptr(uid), uintptr(uid))
		}
		if err == 0 {
			_, _, err = syscall.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid))
		}
		if err == 0 {
			fn()
		}
	}()
	<-done
}

// lockThread has the goroutine keep its thread, which ends with it.
func lockThread() { runtime.LockOSThread() }
