package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A still identifies a state of a file that nobody writes to. A file in a directory that cannot be written is read without
// a log and without locks, which is right only as long as nobody else writes: the directory may be mounted elsewhere too,
// and written there. A writer makes a log first. So each View checks, before and after, that there is no log and that the
// file has not changed.
type still struct {
	size  int64
	mtime time.Time
}

// stillOf returns the state of a file that has no log beside it, nor a rollback journal.
func stillOf(path string) (s still, err error) {
	for _, suffix := range []string{logSuffix, indexSuffix, journalSuffix} {
		info, err := os.Stat(path + suffix)
		switch {
		case err == nil && (suffix == indexSuffix || info.Size() > 0):
			return still{}, fmt.Errorf("%s is beside it", filepath.Base(path)+suffix)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return still{}, bare(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return still{}, bare(err)
	}
	return still{info.Size(), info.ModTime()}, nil
}
