//go:build unix

package engine

import (
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
)

// Descriptor returns the engine's descriptor of the database file of c. It must not be closed: that would release the locks
// of all connections of this process. ok is false where it cannot be read.
func Descriptor(c *sqlite.Conn) (fd int, ok bool) {
	tls := libc.NewTLS()
	defer tls.Close()
	file, _ := files(tls, c)
	return descriptor(file)
}

// descriptor returns that of a file object, which has an inode if it is one of the engine's unix files.
func descriptor(file uintptr) (fd int, ok bool) {
	if methodsOf(file) == 0 || at[sqlite3.TunixFile](file).FpInode == 0 {
		return 0, false
	}
	return int(at[sqlite3.TunixFile](file).Fh), true
}
