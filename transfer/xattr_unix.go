//go:build linux || darwin

package transfer

import (
	"strings"

	"golang.org/x/sys/unix"
)

// xattrsOf returns the names of the extended attributes of a file of the host, without the label that the system gives
// to each file by itself.
func xattrsOf(name string) []string {
	size, err := unix.Llistxattr(name, nil)
	if err != nil || size == 0 {
		return nil
	}
	buf := make([]byte, size)
	n, err := unix.Llistxattr(name, buf)
	if err != nil {
		return nil
	}
	var names []string
	for attr := range strings.SplitSeq(string(buf[:n]), "\x00") {
		if attr != "" && attr != "security.selinux" && attr != "com.apple.provenance" {
			names = append(names, attr)
		}
	}
	return names
}
