package chunk

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// patience is how old a heartbeat may be.
const patience = 60 * time.Second

// owner names this process in a way that no other process has or will have, as far as the system lets us.
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

// Dead reports whether the holder of a lease is gone: provably, because its process was in our sight and is no more,
// or because its heartbeat is older than a minute. beat and now are in nanoseconds since 1970.
func Dead(owner string, beat, now int64) bool {
	return now-beat > int64(patience) || gone(owner)
}
