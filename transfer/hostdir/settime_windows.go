package hostdir

import "time"

// SetTime sets the modification time of a file in the directory.
func (d *Dir) SetTime(base string, t time.Time) error { return d.Root.Chtimes(base, t, t) }
