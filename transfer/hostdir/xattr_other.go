//go:build !linux && !darwin

package hostdir

import (
	"os"
	"syscall"
)

// Xattrs returns EOPNOTSUPP: extended attributes are not read on this system.
func (d *Dir) Xattrs(string) ([]string, error) { return nil, syscall.EOPNOTSUPP }

// Xattr returns EOPNOTSUPP.
func (d *Dir) Xattr(string, string) (string, error) { return "", syscall.EOPNOTSUPP }

// KeepsXattrs returns false.
func (d *Dir) KeepsXattrs(string) bool { return false }

// LoseXattrs does nothing.
func (d *Dir) LoseXattrs(func(name string) bool) error { return nil }

// SetXattr returns EOPNOTSUPP.
func SetXattr(*os.File, string, string) error { return syscall.EOPNOTSUPP }
