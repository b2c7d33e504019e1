//go:build !unix

package hostdir

import "io/fs"

// Identity returns the ID, and whether the file has other names.
func Identity(fs.FileInfo) (ID, bool) { return ID{}, false }

// Owner returns the user and the group, which this system has not.
func Owner(fs.FileInfo) (uid, gid uint32) { return 0, 0 }

// Device returns the two numbers of a device, which this system has not.
func Device(fs.FileInfo) (major, minor int64) { return 0, 0 }

// links returns 1: this system does not report how many names a file has.
func links(fs.FileInfo) uint64 { return 1 }
