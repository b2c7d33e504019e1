package run

import (
	"path/filepath"

	"github.com/landlock-lsm/go-landlock/landlock"
)

// devices are the files outside the tree that a confined command may write: those that keep nothing.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// restrict lets this process, and all that it starts from now on, write only below the given directories. Nothing takes that
// back. It needs a kernel that knows truncation too: under the older versions of Landlock any file could be truncated.
func restrict(via Via, writable []string) error {
	all := []landlock.Rule{
		landlock.RODirs("/"),
		landlock.RWFiles(devices...).IgnoreIfMissing(),
		landlock.RWDirs("/dev/pts").IgnoreIfMissing(),
		landlock.RWDirs(writable...).WithRefer(),
	}
	if err := landlock.V3.RestrictPaths(all...); err != nil {
		return &UnableError{
			Engine: via, Why: "--confine is not possible here: " + err.Error(),
			Remedy: "it needs Linux 6.2 with landlock among its security modules", Err: errnoOf(err),
		}
	}
	return nil
}

// writable returns the directories that a confined command may write, as absolute paths.
func (t *task) writable(root string) ([]string, error) {
	all := []string{root, t.temp}
	for _, dir := range t.o.AllowWrite {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, dir)
	}
	return all, nil
}
