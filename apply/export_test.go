package apply

import "testing"

// BeforeRename calls do each time a file was written and does not have its name yet.
func BeforeRename(t testing.TB, do func(path string)) {
	was := beforeRename
	beforeRename = do
	t.Cleanup(func() { beforeRename = was })
}
