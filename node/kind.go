package node

import (
	"fmt"
	"io/fs"
)

// Types of file, as in st_mode and in dirent.kind.
const (
	KindFifo   = 1
	KindChar   = 2
	KindDir    = 4
	KindBlock  = 6
	KindFile   = 8
	KindLink   = 10
	KindSocket = 12

	ModeDir  = KindDir << 12
	ModeFile = KindFile << 12
	ModeLink = KindLink << 12

	PermBits = 0o7777
)

// FileMode turns st_mode bits into Go's.
func FileMode(mode uint32) fs.FileMode {
	m := KindMode(uint8(mode>>12)) | fs.FileMode(mode&0o777)
	for bit, flag := range specialBits {
		if mode&bit != 0 {
			m |= flag
		}
	}
	return m
}

// UnixPerm turns the 12 permission bits of Go's mode into those of st_mode. The type is left out.
func UnixPerm(m fs.FileMode) uint32 {
	mode := uint32(m.Perm())
	for bit, flag := range specialBits {
		if m&flag != 0 {
			mode |= bit
		}
	}
	return mode
}

var specialBits = map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky}

// KindMode turns a file type into the type bits of Go's mode.
func KindMode(kind uint8) fs.FileMode {
	switch kind {
	case KindDir:
		return fs.ModeDir
	case KindLink:
		return fs.ModeSymlink
	case KindFifo:
		return fs.ModeNamedPipe
	case KindSocket:
		return fs.ModeSocket
	case KindChar:
		return fs.ModeDevice | fs.ModeCharDevice
	case KindBlock:
		return fs.ModeDevice
	}
	return 0
}

// ModeKind is the inverse of KindMode.
func ModeKind(m fs.FileMode) uint8 {
	switch m.Type() {
	case fs.ModeDir:
		return KindDir
	case fs.ModeSymlink:
		return KindLink
	case fs.ModeNamedPipe:
		return KindFifo
	case fs.ModeSocket:
		return KindSocket
	case fs.ModeDevice | fs.ModeCharDevice:
		return KindChar
	case fs.ModeDevice:
		return KindBlock
	}
	return KindFile
}

var kindNames = [16]string{
	KindFifo: "fifo", KindChar: "character device", KindDir: "directory", KindBlock: "block device",
	KindFile: "file", KindLink: "symlink", KindSocket: "socket",
}

// isKind reports whether a number is a type of file.
func isKind(kind int64) bool {
	return kind >= 0 && kind < int64(len(kindNames)) && kindNames[kind] != ""
}

// KindName returns a type of file in words.
func KindName(kind int64) string {
	if isKind(kind) {
		return kindNames[kind]
	}
	return fmt.Sprintf("type %d", kind)
}
