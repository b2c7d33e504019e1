package apply

import (
	"testing"

	"vfsdb/transfer/hostdir"
)

// Sync calls do in place of each sync of a file.
func Sync(t testing.TB, do func(base string) error) {
	was := syncHost
	syncHost = func(_ *hostdir.Syncer, _ *hostdir.Dir, base string) error { return do(base) }
	t.Cleanup(func() { syncHost = was })
}

// InMemory bounds what is held in memory.
func InMemory(t testing.TB, most int64) {
	was := maxInMemory
	maxInMemory = most
	t.Cleanup(func() { maxInMemory = was })
}

// BeforeRename calls do each time a file was written and does not have its name yet.
func BeforeRename(t testing.TB, do func(path string)) {
	was := beforeRename
	beforeRename = do
	t.Cleanup(func() { beforeRename = was })
}
