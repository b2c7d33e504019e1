package patch

import (
	"fmt"
	"strings"

	"vfsdb/node"
	"vfsdb/tree"
)

// note returns what differs at a place, between two states of its file, and has no section: "" if nothing does.
func (d *drawer) note(p *place, old, now *node.Node) (string, error) {
	var parts []string
	dir, err := d.noteDir(p)
	if err != nil {
		return "", err
	}
	if dir != "" {
		parts = append(parts, dir)
	}
	if special(p.old) && (p.now == nil || p.old.Mode != p.now.Mode || p.old.Rdev != p.now.Rdev) {
		parts = append(parts, "a special file was removed")
	}
	if special(p.now) && (p.old == nil || p.old.Mode != p.now.Mode || p.old.Rdev != p.now.Rdev) {
		parts = append(parts, "a special file was added")
	}

	// Attributes are those of one file, or of a file in the place of another one.
	if old != nil && now != nil && old.Kind() == now.Kind() && !special(now) {
		was, is := old.Mode&0o7777, now.Mode&0o7777
		if was != is && (modeOf(old) == modeOf(now) || is != 0o755 && is != 0o644) {
			parts = append(parts, fmt.Sprintf("mode %04o, was %04o", is, was))
		}
		if old.Uid != now.Uid || old.Gid != now.Gid {
			parts = append(parts, fmt.Sprintf("owner %d:%d, was %d:%d", now.Uid, now.Gid, old.Uid, old.Gid))
		}
		if old.Xattrs != now.Xattrs {
			parts = append(parts, "other extended attributes")
		}
	} else if now != nil && now.Xattrs != "" {
		parts = append(parts, "extended attributes")
	}
	return strings.Join(parts, "; "), nil
}

// special reports whether a file is a device, a fifo or a socket.
func special(n *node.Node) bool { return n != nil && !n.IsDir() && !drawn(n) }

// noteDir returns what differs at a place of an empty directory. The others come and go with their files.
func (d *drawer) noteDir(p *place) (string, error) {
	was, err := empty(d.old, p.old)
	if err != nil {
		return "", err
	}
	is, err := empty(d.now, p.now)
	switch {
	case err != nil || was == is:
		return "", err
	case is && p.old != nil && p.old.IsDir():
		return "the directory is empty now", nil
	case is:
		return "an empty directory was added", nil
	case p.now != nil && p.now.IsDir():
		return "", nil // its files bring it
	}
	return "an empty directory was removed", nil
}

// empty reports whether a node is a directory without entries. A nil node is none.
func empty(tx *tree.Tx, n *node.Node) (bool, error) {
	if n == nil || !n.IsDir() {
		return false, nil
	}
	page, err := tx.Page(n.Ino, "", 1)
	return len(page) == 0, err
}
