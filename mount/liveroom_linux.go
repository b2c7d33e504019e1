package mount

import (
	"sync/atomic"
	"syscall"
	"time"
)

// room is whether the disk of the store has room for what a batch gathers. Where it has not, each change is committed at
// once, so that the program that makes it learns of it if it has failed. It is safe for concurrent use.
type room struct {
	file   string
	until  atomic.Int64 // when it is to be looked at again, in ns
	little atomic.Bool
}

// enough is how much room is enough: the pages of a few batches, in the log and in the file.
const enough = 4 * maxBytes

// lookAgain is for how long a look at the disk is good.
const lookAgain = 5 * time.Millisecond

// tight reports whether there may be too little room to gather.
func (r *room) tight() bool {
	now := time.Now().UnixNano()
	if now >= r.until.Load() {
		var host syscall.Statfs_t
		err := syscall.Statfs(r.file, &host)
		r.little.Store(err == nil && host.Bsize > 0 && host.Bavail < enough/uint64(host.Bsize))
		r.until.Store(now + int64(lookAgain))
	}
	return r.little.Load()
}
