package hold

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// patience is how old a heartbeat may be.
const patience = 60 * time.Second

// Owner returns the name of this process, as it stands in a lease. No other process has it or will have it, as far as
// the system lets us make sure of that.
func Owner() string { return owner() }

var owner = sync.OnceValue(func() string {
	if name, ok := ownName(); ok {
		return name
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
})

// Dead reports whether the process of a lease is gone: provably, because it was in our sight and is no more, or because
// its heartbeat is older than a minute. beat and now are in nanoseconds since 1970.
func Dead(owner string, beat, now int64) bool {
	return now-beat > int64(patience) || gone(owner)
}
