package run

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Facts are the properties of this host that the ways to run a command depend on: names and values. A property that cannot be
// read is left out.
func Facts() [][2]string {
	var list [][2]string
	if info, err := os.Stat("/dev/fuse"); err == nil {
		list = append(list, [2]string{"/dev/fuse", fmt.Sprintf("mode %04o", info.Mode().Perm())})
	} else {
		list = append(list, [2]string{"/dev/fuse", cause(err).Error()})
	}
	for _, f := range [][2]string{
		{"kernel", "/proc/sys/kernel/osrelease"},
		{"user.max_user_namespaces", "/proc/sys/user/max_user_namespaces"},
		{"kernel.unprivileged_userns_clone", "/proc/sys/kernel/unprivileged_userns_clone"},
		{"kernel.apparmor_restrict_unprivileged_userns", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"},
		{"security modules", "/sys/kernel/security/lsm"},
	} {
		if text, err := os.ReadFile(f[1]); err == nil {
			list = append(list, [2]string{f[0], strings.TrimSpace(string(text))})
		}
	}

	var st unix.Statfs_t
	if err := unix.Statfs(os.TempDir(), &st); err == nil {
		name, known := fileSystems[int64(st.Type)]
		if !known {
			name = fmt.Sprintf("of type %#x", st.Type)
		}
		list = append(list, [2]string{"temporary directory", os.TempDir() + ", " + name})
	}
	return list
}

var fileSystems = map[int64]string{
	unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs", unix.TMPFS_MAGIC: "tmpfs",
	unix.OVERLAYFS_SUPER_MAGIC: "overlayfs", unix.NFS_SUPER_MAGIC: "nfs", unix.FUSE_SUPER_MAGIC: "fuse", 0x2fc12fc1: "zfs",
}
