package node

import (
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"syscall"
)

// Limits of extended attributes. Those of names and values are Linux's.
const (
	MaxXattrName  = 255     // bytes of a name, with its namespace
	MaxXattrValue = 1 << 16 // bytes of a value
	MaxXattrs     = 1 << 16 // bytes of all of an inode, as they are stored
)

// XattrSpace is the namespace of the attributes that are stored: the one in which programs keep what they like. Others
// belong to the kernel of a host, which gives them a meaning that a file in a store does not have.
const XattrSpace = "user."

// Xattrs are the extended attributes of an inode as its row has them; "" if there are none. For each attribute they have
// the length of the name without its namespace, that name, the length of the value, and the value, in the order of the
// names. Lengths are varints. Equal attributes have equal bytes, so == compares them. The Xattrs of a node that a tree
// shows have no fault.
type Xattrs string

// CheckXattr refuses a name that no stored attribute can have: ERANGE for one that is empty or too long, EOPNOTSUPP for
// another namespace, and EINVAL for a namespace alone or a name with a zero byte.
func CheckXattr(name string) error {
	switch {
	case name == "" || len(name) > MaxXattrName:
		return syscall.ERANGE
	case !strings.HasPrefix(name, XattrSpace):
		return syscall.EOPNOTSUPP
	case name == XattrSpace || strings.IndexByte(name, 0) >= 0:
		return syscall.EINVAL
	}
	return nil
}

// NewXattrs returns the attributes with the given names and values. Beside the errors of [CheckXattr], a value that is
// too long is E2BIG, and more than an inode has room for is ENOSPC.
func NewXattrs(values map[string]string) (Xattrs, error) {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(values)) {
		attr, err := encodeXattr(name, values[name])
		if err != nil {
			return "", err
		}
		if b = append(b, attr...); len(b) > MaxXattrs {
			return "", syscall.ENOSPC
		}
	}
	return Xattrs(b), nil
}

// encodeXattr returns the bytes of one attribute.
func encodeXattr(name, value string) ([]byte, error) {
	if err := CheckXattr(name); err != nil {
		return nil, err
	}
	if len(value) > MaxXattrValue {
		return nil, syscall.E2BIG
	}

	b := make([]byte, 0, len(name)+len(value)+2*binary.MaxVarintLen16)
	for _, field := range []string{strings.TrimPrefix(name, XattrSpace), value} {
		b = binary.AppendUvarint(b, uint64(len(field)))
		b = append(b, field...)
	}
	return b, nil
}

// With returns the attributes with one of them new or changed. The errors are those of [NewXattrs].
func (x Xattrs) With(name, value string) (Xattrs, error) {
	attr, err := encodeXattr(name, value)
	if err != nil {
		return "", err
	}
	from, to := x.find(name)
	if len(x)-(to-from)+len(attr) > MaxXattrs {
		return "", syscall.ENOSPC
	}
	return x[:from] + Xattrs(attr) + x[to:], nil
}

// Without returns the attributes with one of them gone.
func (x Xattrs) Without(name string) Xattrs {
	from, to := x.find(name)
	return x[:from] + x[to:]
}

// find returns where the bytes of an attribute begin and end. If there is no such attribute, both are its place.
func (x Xattrs) find(name string) (from, to int) {
	for a := range x.each() {
		switch {
		case a.name == name:
			return a.from, a.to
		case a.name > name:
			return a.from, a.from
		}
	}
	return len(x), len(x)
}

// Get returns the value of an attribute, if there is one of that name.
func (x Xattrs) Get(name string) (value string, ok bool) {
	for have, value := range x.All() {
		if have == name {
			return value, true
		}
	}
	return "", false
}

// Names returns the names, with their namespace, in order.
func (x Xattrs) Names() []string {
	var names []string
	for a := range x.each() {
		names = append(names, a.name)
	}
	return names
}

// All yields each name, with its namespace, and its value, in the order of the names.
func (x Xattrs) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for a := range x.each() {
			if !yield(a.name, a.value) {
				return
			}
		}
	}
}

// An xattr is one attribute, and where its bytes stand.
type xattr struct {
	name, value string
	from, to    int
}

// each yields the attributes up to the first fault.
func (x Xattrs) each() iter.Seq[xattr] {
	return func(yield func(xattr) bool) {
		for at := 0; at < len(x); {
			name, width := cutField(string(x[at:]))
			value, more := cutField(string(x[at+width:]))
			if width == 0 || more == 0 {
				return
			}
			if !yield(xattr{XattrSpace + name, value, at, at + width + more}) {
				return
			}
			at += width + more
		}
	}
}

// cutField returns the bytes behind a length at the front of s, and how many bytes they take with the length; 0 if s has no
// length there, one that is not the shortest form of its number, or too few bytes behind it.
func cutField(s string) (field string, width int) {
	n, k := binary.Uvarint([]byte(s[:min(len(s), binary.MaxVarintLen16)]))
	if k <= 0 || k > 1 && s[k-1] == 0 || n > uint64(len(s)-k) {
		return "", 0
	}
	return s[k : k+int(n)], k + int(n)
}

// Fault returns why no row can have these bytes as attributes; "" if one can.
func (x Xattrs) Fault() string {
	if x == "" || len(x) > MaxXattrs {
		return fmt.Sprintf("attributes of %d bytes", len(x))
	}
	end, last := 0, ""
	for a := range x.each() {
		switch {
		case CheckXattr(a.name) != nil:
			return fmt.Sprintf("%q cannot be the name of an attribute", a.name)
		case a.name <= last:
			return fmt.Sprintf("attribute %q does not stand behind %q", a.name, last)
		}
		end, last = a.to, a.name
	}
	if end != len(x) {
		return fmt.Sprintf("attributes end at byte %d of %d", end, len(x))
	}
	return ""
}
