package tarred

import (
	"archive/tar"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"vfsdb/node"
)

// Mode returns the type and the 12 permission bits of an entry. An unknown type is EINVAL.
func Mode(h *tar.Header) (fs.FileMode, error) {
	mode := node.FileMode(uint32(h.Mode & 0o7777))
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse, tar.TypeLink:
		return mode, nil
	case tar.TypeDir:
		return mode | fs.ModeDir, nil
	case tar.TypeSymlink:
		return mode | fs.ModeSymlink, nil
	case tar.TypeFifo:
		return mode | fs.ModeNamedPipe, nil
	case tar.TypeChar:
		return mode | fs.ModeDevice | fs.ModeCharDevice, nil
	case tar.TypeBlock:
		return mode | fs.ModeDevice, nil
	}
	return 0, fmt.Errorf("an entry of type %q: %w", h.Typeflag, syscall.EINVAL)
}

// Sparse reports whether an entry may have holes.
func Sparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}
