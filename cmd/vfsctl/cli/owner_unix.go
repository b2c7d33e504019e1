//go:build unix

package cli

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// sameDevice reports whether two directories are in one file system.
func sameDevice(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, also := b.Sys().(*syscall.Stat_t)
	return ok && also && x.Dev == y.Dev
}

// belongsToUser reports whether a file belongs to the user, and the symlink too that leads to it.
func belongsToUser(name string) (bool, error) {
	for _, stat := range []func(string) (fs.FileInfo, error){os.Lstat, os.Stat} {
		info, err := stat(name)
		if err != nil {
			return false, err
		}
		if s, ok := info.Sys().(*syscall.Stat_t); !ok || !isUser(int(s.Uid), os.Geteuid(), os.Getenv("SUDO_UID")) {
			return false, nil
		}
	}
	return true, nil
}

// isUser reports whether an owner is the user: the effective one, or for root the one who called sudo, as for git.
func isUser(owner, euid int, sudo string) bool {
	if owner == euid {
		return true
	}
	caller, err := strconv.Atoi(sudo)
	return euid == 0 && err == nil && owner == caller
}
