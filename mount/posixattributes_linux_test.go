package mount_test

import (
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// posixAttributes change and compare attributes.
var posixAttributes = []posixCall{
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
	{"access", func(p *posix) {
		p.close(p.open("f", unix.O_CREAT|unix.O_RDWR, 0o600))
		for _, mode := range []uint32{unix.F_OK, unix.R_OK, unix.W_OK, unix.X_OK} {
			p.did("access", unix.Access(p.path("f"), mode))
			p.did("access", unix.Access(p.path("none"), mode))
		}
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
