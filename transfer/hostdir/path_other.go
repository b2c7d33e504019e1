//go:build !linux

package hostdir

import "path/filepath"

// PathOf returns a path of a file in the directory, for system calls that take no descriptor. On this system another
// program that renames directories can lead it astray.
func (d *Dir) PathOf(base string) string { return filepath.Join(d.Self.Name(), base) }
