package hostdir

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ErrOwn refuses a file of the host that is one of the store's own. It is EPERM.
var ErrOwn = fmt.Errorf("the store itself has this name: %w", syscall.EPERM)

// OwnFiles returns the files that a store is in, by the path of its main file. They are not even opened to be read: closing one of them
// would drop the locks that SQLite has on it.
func OwnFiles(store string) []fs.FileInfo {
	var own []fs.FileInfo
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if info, err := os.Stat(store + suffix); err == nil {
			own = append(own, info)
		}
	}
	return own
}

// IsOwn reports whether a file of the host is one of the store's own.
func IsOwn(own []fs.FileInfo, info fs.FileInfo) bool {
	for _, o := range own {
		if os.SameFile(o, info) {
			return true
		}
	}
	return false
}
