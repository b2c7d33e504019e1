package transfer

import (
	"archive/tar"
	"strings"
)

// tarXattrs returns the names of the extended attributes that an entry says it has, ACLs included.
func tarXattrs(h *tar.Header) (names []string) {
	for key := range h.PAXRecords {
		for _, prefix := range []string{"SCHILY.xattr.", "LIBARCHIVE.xattr.", "SCHILY.acl."} {
			if name, ok := strings.CutPrefix(key, prefix); ok {
				names = append(names, name)
			}
		}
	}
	return names
}
