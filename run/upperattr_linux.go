package run

import (
	"encoding/binary"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"vfsdb/node"
)

// The kernel keeps facts about a layer in extended attributes. Their prefix depends on the user that mounts.
const (
	rootPrefix = "trusted.overlay."
	userPrefix = "user.overlay."
)

// attributes reads what the kernel notes on an open file, and the attributes that a command has set.
func (r *upperReader) attributes(fd int) (kernel map[string]string, own node.Xattrs, err error) {
	names := make([]byte, 512)
	n, err := unix.Flistxattr(fd, names)
	if err == unix.ERANGE {
		names = make([]byte, 1<<16) // the most that the kernel lists
		n, err = unix.Flistxattr(fd, names)
	}
	switch {
	case err == unix.ENOTSUP:
		return nil, "", nil
	case err != nil || n == 0:
		return nil, "", err
	}

	set := make(map[string]string)
	kernel = make(map[string]string)
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names[:n]), "\x00"), "\x00") {
		short, isKernels := strings.CutPrefix(name, r.prefix)
		switch {
		case isKernels:
			kernel[short] = attribute(fd, name)
		case strings.HasPrefix(name, node.XattrSpace) && !strings.HasPrefix(name, userPrefix):
			set[name] = attribute(fd, name)
		}
	}
	own, err = node.NewXattrs(set)
	return kernel, own, err
}

// holdsXattrs reports whether a directory can hold attributes of users. Where it can, the kernel copies those of a file with
// it, and a write to the file fails if there is no room for them.
func holdsXattrs(dir string) bool {
	const probe = node.XattrSpace + "vfsdb.probe"
	return unix.Setxattr(dir, probe, nil, 0) == nil && unix.Removexattr(dir, probe) == nil
}

// attribute returns an attribute of an open file, "" if it has none.
func attribute(fd int, name string) string {
	var buf [512]byte
	n, err := unix.Fgetxattr(fd, name, buf[:])
	switch err {
	case nil:
		return string(buf[:n])
	case unix.ERANGE:
		long := make([]byte, node.MaxXattrValue)
		if n, err := unix.Fgetxattr(fd, name, long); err == nil {
			return string(long[:n])
		}
	}
	return ""
}

// The attribute origin has a handle of the file that was copied up: a header, then what the lower layer's file system calls
// the file. FUSE calls it by the number that we gave it, and a generation.
const (
	originMagic    = 0xfb
	originHeader   = 21   // version, magic, length, flags, type, and 16 bytes of a uuid
	originFuse     = 0x81 // the type of FUSE's handles
	originByteSwap = 1    // a flag: the bytes are in big-endian order
)

// originOf returns the inode of a frozen mount in the attribute origin, 0 if there is none.
func originOf(handle string) node.Ino {
	if len(handle) != originHeader+12 || handle[1] != originMagic || handle[4] != originFuse {
		return 0
	}
	var order binary.ByteOrder = binary.LittleEndian
	if handle[3]&originByteSwap != 0 {
		order = binary.BigEndian
	}
	id := []byte(handle[originHeader:])
	return node.Ino(uint64(order.Uint32(id))<<32 | uint64(order.Uint32(id[4:])))
}

func timeOf(ts unix.Timespec) time.Time { return time.Unix(ts.Unix()) }
