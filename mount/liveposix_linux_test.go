package mount_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
)

// A posixCall is a row of the table: some calls with one subject.
type posixCall struct {
	name string
	run  func(*posix)
}

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

// ofRoot are the calls that a host refuses to users, and a mount by a user allows to that user: it refuses nothing.
var ofRoot = []string{"symlinks", "attributes", "setgid directory", "permissions"}

// poke writes into mapped memory from within a system call. A goroutine that waits for a page outside of one keeps the
// garbage collector waiting, which keeps the server of this process from bringing the page.
func (p *posix) poke(to []byte, text string) {
	through(func(r, w int) (int, error) {
		if _, err := unix.Write(w, []byte(text)); err != nil {
			return 0, err
		}
		return unix.Read(r, to[:len(text)])
	})
}

// peek reads mapped memory, as poke writes it.
func (p *posix) peek(from []byte) string {
	text := make([]byte, len(from))
	through(func(r, w int) (int, error) {
		if _, err := unix.Write(w, from); err != nil {
			return 0, err
		}
		return unix.Read(r, text)
	})
	return string(text)
}

// through lends a pipe.
func through(fn func(r, w int) (int, error)) {
	var pipe [2]int
	if err := unix.Pipe(pipe[:]); err != nil {
		panic(err)
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	if _, err := fn(pipe[0], pipe[1]); err != nil {
		panic(err)
	}
}

// Each call on the mount has the outcome that it has on the host, errno by errno. TestAsUser runs it as a user.
func TestLivePosixTable(t *testing.T) {
	fsys := vfstest.New(t)
	dir, _ := live(t, fsys, nil)
	host := t.TempDir()
	require.NoError(t, os.Chmod(host, 0o755))
	require.NoError(t, os.Chmod(dir, 0o755))

	for _, tt := range slices.Concat(posixNames, posixContents, posixAttributes) {
		t.Run(tt.name, func(t *testing.T) {
			if os.Geteuid() != 0 && slices.Contains(ofRoot, tt.name) {
				t.Skip("needs root")
			}
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
