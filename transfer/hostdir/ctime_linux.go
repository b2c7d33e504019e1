package hostdir

import (
	"io/fs"
	"syscall"
)

// changeTime returns the time of the last change of anything.
func changeTime(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano()
	}
	return 0
}
