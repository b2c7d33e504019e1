//go:build !unix

package transfer

import (
	"io/fs"
	"os"
)

// A fileID identifies a file of the host.
type fileID struct{}

// identity returns the fileID, and whether the file has other names.
func identity(fs.FileInfo) (fileID, bool) { return fileID{}, false }

// ownerOf returns the owner, and the device number of a device.
func ownerOf(fs.FileInfo) (uid, gid uint32, rdev uint64) { return 0, 0, 0 }

// openHost opens a file to be read.
func openHost(name string) (*os.File, error) { return os.Open(name) }
