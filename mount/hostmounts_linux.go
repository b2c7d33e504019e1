package mount

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A hostMount is a line of the host's list of mounts, as this process sees it.
type hostMount struct {
	id     uint64 // the host gives it out again after the end of the mount
	device string // of the file system, which has it for as long as anybody uses it
	dir    string // where it is now: a directory above it may have been renamed
	source string
}

// hostMounts returns the host's list of mounts, oldest first.
func hostMounts() ([]hostMount, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, bare(err)
	}
	var list []hostMount
	for line := range strings.Lines(string(text)) {
		if m, ok := parseHostMount(strings.TrimSuffix(line, "\n")); ok {
			list = append(list, m)
		}
	}
	return list, nil
}

// parseHostMount reads a line such as: 36 35 98:0 /root /dir rw,noatime master:1 - fuse.vfsdb vfsdb ro. The fields
// before the - are optional from the seventh on.
func parseHostMount(line string) (m hostMount, ok bool) {
	before, after, ok := strings.Cut(line, " - ")
	fields, kinds := strings.Split(before, " "), strings.Split(after, " ")
	if !ok || len(fields) < 6 || len(kinds) < 2 {
		return m, false
	}
	id, err := strconv.ParseUint(fields[0], 10, 64)
	return hostMount{id, fields[2], unescape(fields[4]), unescape(kinds[1])}, err == nil
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

// mountOf returns the number of the mount that a path leads to. It asks nothing of the process that serves the mount,
// which may be gone. ok is false on a host that is too old to tell.
func mountOf(path string) (id uint64, ok bool, err error) {
	var st unix.Statx_t
	err = unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT, unix.STATX_MNT_ID, &st)
	return st.Mnt_id, err == nil && st.Mask&unix.STATX_MNT_ID != 0, err
}

// newestOn returns the mount that was made last on a directory.
func newestOn(dir string) (found hostMount, err error) {
	list, err := hostMounts()
	if err != nil {
		return found, err
	}
	id, known, err := mountOf(dir)
	if err != nil {
		return found, err
	}
	for _, m := range list {
		if known && m.id == id || !known && m.dir == dir {
			found = m
		}
	}
	if found.id == 0 {
		return found, fmt.Errorf("%w: it is not in the host's list of mounts", syscall.EINVAL)
	}
	return found, nil
}

// now returns the mount as it is at present, with the directory that it is on; ok is false if this process sees it no more.
func (m hostMount) now() (found hostMount, ok bool, err error) {
	list, err := hostMounts()
	if err != nil {
		return found, false, err
	}
	for _, l := range list {
		if l.id == m.id && l.device == m.device {
			return l, true, nil
		}
	}
	return found, false, nil
}
