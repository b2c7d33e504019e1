package transfer

import "io/fs"

// special are the permission bits above the lower nine, as Unix has them and as Go does.
var special = []struct {
	bit  uint32
	flag fs.FileMode
}{{0o4000, fs.ModeSetuid}, {0o2000, fs.ModeSetgid}, {0o1000, fs.ModeSticky}}

// unixPerm returns the 12 permission bits of a mode as Unix has them.
func unixPerm(mode fs.FileMode) uint32 {
	perm := uint32(mode.Perm())
	for _, s := range special {
		if mode&s.flag != 0 {
			perm |= s.bit
		}
	}
	return perm
}

// goPerm is the inverse of unixPerm.
func goPerm(perm uint32) fs.FileMode {
	mode := fs.FileMode(perm & 0o777)
	for _, s := range special {
		if perm&s.bit != 0 {
			mode |= s.flag
		}
	}
	return mode
}
