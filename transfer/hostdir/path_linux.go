package hostdir

import "strconv"

// PathOf returns a path of a file in the directory, for system calls that take no descriptor. It leads through this
// directory, whatever has its name now. It is valid as long as the directory is open.
func (d *Dir) PathOf(base string) string {
	return "/proc/self/fd/" + strconv.Itoa(int(d.Self.Fd())) + "/" + base
}
