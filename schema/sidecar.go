package schema

import (
	"fmt"
	"syscall"

	"vfsdb/schema/hostfile"
)

// A sidecar is a file that SQLite has open beside the database: the log, or the index of the log.
type sidecar struct {
	path string
	file hostfile.ID
}

// besides are the log and its index, as they stand beside the file while it is open.
func besides(path string) []sidecar {
	var found []sidecar
	for _, suffix := range []string{logSuffix, indexSuffix} {
		if file, _, err := hostfile.Identify(path + suffix); err == nil {
			found = append(found, sidecar{path + suffix, file})
		}
	}
	return found
}

// allLead reports whether all paths still lead to their files.
func allLead(beside []sidecar) bool {
	for _, s := range beside {
		if !leads(s.path, s.file) {
			return false
		}
	}
	return true
}

// leads reports whether a path leads to a file.
func leads(path string, file hostfile.ID) bool {
	found, _, err := hostfile.Identify(path)
	return err == nil && found == file
}

func moved(path string) error {
	return fmt.Errorf("%s was moved, removed or replaced while it was open: %w", path, syscall.ESTALE)
}
