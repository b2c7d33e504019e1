//go:build !linux

package hostdir

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
)

// A Syncer makes what was written to directories survive a loss of power. Its zero value is ready to use.
type Syncer struct{}

// Sync makes a file in a directory durable, or the names in it if it is a directory. A file that may not be opened, and on
// Windows a directory, is left to the system.
func (s *Syncer) Sync(in *Dir, base string) error {
	info, err := in.Root.Lstat(base)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return err
	}

	how := os.O_RDONLY
	if runtime.GOOS == "windows" {
		if info.IsDir() {
			return nil
		}
		how = os.O_RDWR // it syncs no file that is open for reading
	}
	f, err := in.Root.OpenFile(base, how, 0)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
