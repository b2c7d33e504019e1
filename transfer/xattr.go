package transfer

import (
	"archive/tar"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"

	"vfsdb/node"
	"vfsdb/transfer/hostdir"
	"vfsdb/vfs"
)

// A xattrs is the extended attributes of a file of a source. Nil is none, of a source that may not know all.
type xattrs struct {
	node.Xattrs
	exact bool // the file in the store loses those that it has beside these
}

// noXattrs are the attributes of a file that has none.
var noXattrs = &xattrs{exact: true}

// maxXattrBytes bounds the attributes that an import holds in memory until its commit. Those beyond are left out.
const maxXattrBytes = 256 << 20

// put returns what a file with the attributes there has afterwards. If those of the source and others do not fit into one
// inode, the others go.
func (x *xattrs) put(there node.Xattrs) node.Xattrs {
	switch {
	case x == nil:
		return there
	case x.exact || there == "":
		return x.Xattrs
	}
	both := maps.Collect(there.All())
	maps.Insert(both, x.All())
	if merged, err := node.NewXattrs(both); err == nil {
		return merged
	}
	return x.Xattrs
}

// hostXattrs returns the attributes of a file of the host that has a mode. Those that the store does not keep are reported.
// A file is refused if it may have attributes that cannot be listed. What is gone or closed is refused when it is read.
func (w *dirWalker) hostXattrs(in *hostdir.Dir, base, name string, a attr) *xattrs {
	names, err := in.Xattrs(base)
	if err != nil || !keepsXattrs(a) {
		if none := errors.Is(err, errors.ErrUnsupported); keepsXattrs(a) && !none && err != syscall.ENOENT && err != syscall.EACCES {
			w.refuse(name, fmt.Errorf("its extended attributes: %w", err))
		}
		w.skipXattrs(names)
		return nil
	}

	values := make(map[string]string)
	for _, name := range names {
		if node.CheckXattr(name) != nil {
			continue
		}
		if value, err := in.Xattr(base, name); err == nil {
			values[name] = value
		}
	}
	x := w.keepXattrs(names, values)
	switch {
	case !w.exact:
		return x
	case x == nil:
		return noXattrs
	}
	x.exact = true
	return x
}

// keepsXattrs reports whether a file in the store can have attributes.
func keepsXattrs(a attr) bool { return a.mode.IsRegular() || a.mode.IsDir() }

// keepXattrs returns the values as attributes, nil if there are none, and reports the names that are not among them.
func (im *importer) keepXattrs(names []string, values map[string]string) *xattrs {
	var kept node.Xattrs
	if len(values) > 0 {
		maps.DeleteFunc(values, func(name, value string) bool {
			return node.CheckXattr(name) != nil || len(value) > node.MaxXattrValue
		})
		made, err := node.NewXattrs(values)
		if err != nil || im.xattrBytes.Add(int64(len(made))) > maxXattrBytes {
			made, values = "", nil
		}
		kept = made
	}

	im.skipXattrs(slices.DeleteFunc(names, func(name string) bool {
		_, ok := values[name]
		return ok
	}))
	if kept == "" {
		return nil
	}
	return &xattrs{Xattrs: kept}
}

// The keys of attributes in the PAX records of a tar.
const (
	schilyXattr     = "SCHILY.xattr."
	schilyACL       = "SCHILY.acl."
	libarchiveXattr = "LIBARCHIVE.xattr." // bsdtar writes each attribute a second time
)

// tarXattrs returns the extended attributes in the header of a tar. Those that the store does not keep, ACLs included, are
// reported.
func (t *unarchiver) tarXattrs(h *tar.Header, a attr) *xattrs {
	values, all := make(map[string]string), make(map[string]bool)
	for key, value := range h.PAXRecords {
		if name, ok := strings.CutPrefix(key, schilyXattr); ok {
			all[name] = true
			if keepsXattrs(a) && node.CheckXattr(name) == nil {
				values[name] = value
			}
		}
		for _, prefix := range []string{schilyACL, libarchiveXattr} {
			if name, ok := strings.CutPrefix(key, prefix); ok {
				all[name] = true
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return t.keepXattrs(slices.Collect(maps.Keys(all)), values)
}

// putTarXattrs puts the attributes of a file of the store into the header of a tar, and returns the names of those that it
// has no place for.
func putTarXattrs(h *tar.Header, info *vfs.Info) (left []string) {
	for name, value := range node.NodeOf(info).Xattrs.All() {
		if strings.ContainsRune(name, '=') {
			left = append(left, name)
			continue
		}
		if h.PAXRecords == nil {
			h.PAXRecords = make(map[string]string)
		}
		h.PAXRecords[schilyXattr+name] = value
	}
	return left
}

// putHostXattrs sets the attributes of a file of the store on an open file of the host. Those that the host does not take
// are reported.
func (w *dirWriter) putHostXattrs(f *os.File, info *vfs.Info) {
	var left []string
	for name, value := range node.NodeOf(info).Xattrs.All() {
		if hostdir.SetXattr(f, name, value) != nil {
			left = append(left, name)
		}
	}
	w.skipXattrs(left)
}
