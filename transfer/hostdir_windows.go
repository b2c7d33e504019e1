package transfer

import "time"

// setTime sets the modification time of a file in the directory.
func (d *hostDir) setTime(base string, t time.Time) error { return d.root.Chtimes(base, t, t) }
