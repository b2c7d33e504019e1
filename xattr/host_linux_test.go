package xattr_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
	"vfsdb/xattr"
)

// The same calls have the same result as on a file system of the host, errno by errno.
func TestLikeTheHost(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	host := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(host("file"), nil, 0o644))
	if err := unix.Setxattr(host("file"), "user.try", nil, 0); err != nil {
		t.Skip("needs a temporary directory with attributes of users:", err)
	}
	require.NoError(t, unix.Removexattr(host("file"), "user.try"))
	fsys := vfstest.New(t, "file", "dir/")
	require.NoError(t, os.Mkdir(host("dir"), 0o755))
	for link, target := range map[string]string{"link": "file", "dangling": "nowhere", "loop": "loop"} {
		require.NoError(t, os.Symlink(target, host(link)))
		require.NoError(t, fsys.Symlink(ctx, target, link))
	}
	require.NoError(t, unix.Mkfifo(host("fifo"), 0o644))
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error { return tx.Mknod("fifo", os.ModeNamedPipe|0o644, 0) }))

	long := "user." + strings.Repeat("n", 250)
	for i, tt := range []struct {
		do, name, attr string
		follow         bool
		value          int
		flags          int
	}{
		{do: "list", name: "file"},
		{do: "get", name: "file", attr: "user.x"},
		{do: "remove", name: "file", attr: "user.x"},
		{do: "set", name: "file", attr: "user.x", flags: xattr.Replace},
		{do: "set", name: "file", attr: "user.x", flags: xattr.Create, value: 3},
		{do: "set", name: "file", attr: "user.x", flags: xattr.Create, value: 4},
		{do: "set", name: "file", attr: "user.x", flags: xattr.Replace, value: 5},
		{do: "set", name: "file", attr: "user.a", value: 100},
		{do: "set", name: "file", attr: "user.x", flags: 8},
		{do: "set", name: "file", attr: long},
		{do: "set", name: "file", attr: long + "n"},
		{do: "set", name: "file", attr: ""},
		{do: "set", name: "file", attr: "user."},
		{do: "set", name: "file", attr: "none"},
		{do: "set", name: "file", attr: "other.x"},
		{do: "set", name: "file", attr: "user.big", value: xattr.MaxValue + 1},
		{do: "get", name: "file", attr: ""},
		{do: "get", name: "file", attr: long + "n"},
		{do: "get", name: "file", attr: "user."},
		{do: "get", name: "file", attr: "other.x"},
		{do: "get", name: "file", attr: "user.x"},
		{do: "remove", name: "file", attr: "user."},
		{do: "remove", name: "file", attr: "other.x"},
		{do: "remove", name: "file", attr: long + "n"},
		{do: "list", name: "file"},
		{do: "list", name: "link"},
		{do: "list", name: "link", follow: true},
		{do: "set", name: "link", attr: "user.l"},
		{do: "set", name: "link", attr: "user.l", follow: true, value: 1},
		{do: "get", name: "link", attr: "user.l"},
		{do: "get", name: "link", attr: "user.l", follow: true},
		{do: "remove", name: "link", attr: "user.l"},
		{do: "remove", name: "link", attr: "user.l", follow: true},
		{do: "list", name: "link", follow: true},
		{do: "set", name: "fifo", attr: "user.x"},
		{do: "get", name: "fifo", attr: "user.x"},
		{do: "remove", name: "fifo", attr: "user.x"},
		{do: "list", name: "fifo"},
		{do: "set", name: "dir", attr: "user.x", value: 9},
		{do: "get", name: "dir", attr: "user.x"},
		{do: "list", name: "dir"},
		{do: "remove", name: "dir", attr: "user.x"},
		{do: "remove", name: "dir", attr: "user.x"},
		{do: "set", name: "none", attr: "user.x"},
		{do: "get", name: "none", attr: "user.x"},
		{do: "list", name: "none"},
		{do: "remove", name: "none", attr: "user.x"},
		{do: "set", name: "dangling", attr: "user.x", follow: true},
		{do: "list", name: "dangling", follow: true},
		{do: "get", name: "loop", attr: "user.x", follow: true},
		{do: "list", name: "file/below"},
	} {
		t.Run(fmt.Sprintf("%d %s %s %.20s", i, tt.do, tt.name, tt.attr), func(t *testing.T) {
			value := bytes.Repeat([]byte("v"), tt.value)
			var got, want []byte
			var list []string
			var err, hostErr error
			switch tt.do {
			case "list":
				list, err = xattr.List(ctx, fsys, tt.name, tt.follow)
				for _, name := range list {
					got = append(got, name+"\x00"...)
				}
				want, hostErr = read(tt.follow, unix.Listxattr, unix.Llistxattr)(host(tt.name))
				want = usersOnly(want)
			case "get":
				got, err = xattr.Get(ctx, fsys, tt.name, tt.follow, tt.attr)
				want, hostErr = read(tt.follow,
					func(path string, b []byte) (int, error) { return unix.Getxattr(path, tt.attr, b) },
					func(path string, b []byte) (int, error) { return unix.Lgetxattr(path, tt.attr, b) })(host(tt.name))
			case "set":
				err = xattr.Set(ctx, fsys, tt.name, tt.follow, tt.attr, value, tt.flags)
				hostErr = pick(tt.follow, unix.Setxattr, unix.Lsetxattr)(host(tt.name), tt.attr, value, tt.flags)
			case "remove":
				err = xattr.Remove(ctx, fsys, tt.name, tt.follow, tt.attr)
				hostErr = pick(tt.follow, unix.Removexattr, unix.Lremovexattr)(host(tt.name), tt.attr)
			}

			if hostErr == nil {
				require.NoError(t, err)
				require.Equal(t, string(want), string(got))
				return
			}
			errno, ok := vfs.Errno(err)
			require.True(t, ok, "%v", err)
			require.Equal(t, hostErr, error(errno), "the host: %v; the store: %v", hostErr.(syscall.Errno), err)
		})
	}
}

func pick[F any](follow bool, a, b F) F {
	if follow {
		return a
	}
	return b
}

// read returns a call that makes the room which an answer takes.
func read(follow bool, a, b func(string, []byte) (int, error)) func(string) ([]byte, error) {
	call := pick(follow, a, b)
	return func(path string) ([]byte, error) {
		buf := make([]byte, 1<<16)
		n, err := call(path, buf)
		return buf[:max(n, 0)], err
	}
}

// usersOnly sorts the names that users gave. A host may have others, of its own.
func usersOnly(list []byte) []byte {
	var names []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		if strings.HasPrefix(name, "user.") {
			names = append(names, name+"\x00")
		}
	}
	slices.Sort(names)
	return []byte(strings.Join(names, ""))
}
