package hold

import "sync"

// left has the rows of leases that were closed and could not be deleted, as on a full disk. Their process is alive, so a
// collector of another process waits until their heartbeat is old. One of this process need not.
var left sync.Map // of leftRow to nothing

// A leftRow is the row of a lease in a file, by the file's random id. A copy of the file has the same id, so when a row is
// made anew its entry is deleted.
type leftRow struct {
	file string
	id   int64
}

func isLeft(file string, id int64) bool {
	_, ok := left.Load(leftRow{file, id})
	return ok
}
