package mountinfo

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Mount is a line of the host's list of mounts, as this process sees it.
type Mount struct {
	ID     uint64 // the host gives it out again after the end of the mount
	Device string // of the file system, which has it for as long as anybody uses it
	Dir    string // where it is now: a directory above it may have been renamed
	Source string
}

// List returns the host's list of mounts, oldest first.
func List() ([]Mount, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var list []Mount
	for line := range strings.Lines(string(text)) {
		if m, ok := parse(strings.TrimSuffix(line, "\n")); ok {
			list = append(list, m)
		}
	}
	return list, nil
}

// parse reads a line such as: 36 35 98:0 /root /dir rw,noatime master:1 - fuse.vfsdb vfsdb ro. The fields
// before the - are optional from the seventh on.
func parse(line string) (m Mount, ok bool) {
	before, after, ok := strings.Cut(line, " - ")
	fields, kinds := strings.Split(before, " "), strings.Split(after, " ")
	if !ok || len(fields) < 6 || len(kinds) < 2 {
		return m, false
	}
	id, err := strconv.ParseUint(fields[0], 10, 64)
	return Mount{id, fields[2], unescape(fields[4]), unescape(kinds[1])}, err == nil
}

// unescape turns a path in the host's list of mounts into the path itself. There is no backslash but that of an escape.
func unescape(path string) string {
	if !strings.Contains(path, `\`) {
		return path
	}
	var b strings.Builder
	for len(path) > 0 {
		if path[0] == '\\' && len(path) >= 4 {
			if c, err := strconv.ParseUint(path[1:4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				path = path[4:]
				continue
			}
		}
		b.WriteByte(path[0])
		path = path[1:]
	}
	return b.String()
}

// Of returns the number of the mount that a path leads to. It asks nothing of the process that serves the mount,
// which may be gone. ok is false on a host that is too old to know it.
func Of(path string) (id uint64, ok bool, err error) {
	var st unix.Statx_t
	err = unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT, unix.STATX_MNT_ID, &st)
	return st.Mnt_id, err == nil && st.Mask&unix.STATX_MNT_ID != 0, err
}

// NewestOn returns the mount that was made last on a directory; without one it is EINVAL.
func NewestOn(dir string) (found Mount, err error) {
	list, err := List()
	if err != nil {
		return found, err
	}
	id, known, err := Of(dir)
	if err != nil {
		return found, err
	}
	for _, m := range list {
		if known && m.ID == id || !known && m.Dir == dir {
			found = m
		}
	}
	if found.ID == 0 {
		return found, fmt.Errorf("%w: it is not in the host's list of mounts", syscall.EINVAL)
	}
	return found, nil
}

// Now returns the mount as it is at present, with the directory that it is on; ok is false if this process sees it no more.
func (m Mount) Now() (found Mount, ok bool, err error) {
	list, err := List()
	if err != nil {
		return found, false, err
	}
	for _, l := range list {
		if l.ID == m.ID && l.Device == m.Device {
			return l, true, nil
		}
	}
	return found, false, nil
}
