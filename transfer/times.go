package transfer

import (
	"fmt"
	"syscall"
	"time"

	"vfsdb/transfer/hostdir"
)

// nanoseconds returns a time as the store keeps it, and refuses one that does not fit.
func nanoseconds(t time.Time) (int64, error) {
	if t.IsZero() {
		return 0, nil
	}
	ns, exact := hostdir.Nanos(t)
	if !exact {
		return 0, fmt.Errorf("modification time %d: %w", t.Unix(), syscall.EINVAL)
	}
	return ns, nil
}
