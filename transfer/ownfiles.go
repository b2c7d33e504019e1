package transfer

import (
	"io/fs"
	"os"

	"vfsdb/vfs"
)

// ownFiles returns the files that the store itself is in. They are not even opened to be read: closing one of them
// would drop the locks that SQLite has on it.
func ownFiles(fsys *vfs.FS) []fs.FileInfo {
	var own []fs.FileInfo
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if info, err := os.Stat(fsys.Store().Path() + suffix); err == nil {
			own = append(own, info)
		}
	}
	return own
}

// isOwn reports whether a file of the host is one of the store's own.
func isOwn(own []fs.FileInfo, info fs.FileInfo) bool {
	for _, o := range own {
		if os.SameFile(o, info) {
			return true
		}
	}
	return false
}
