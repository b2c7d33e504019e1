package chunk

import (
	"fmt"
	"syscall"

	"vfsdb/schema"
)

// ErrCorrupt is [schema.ErrCorrupt]. Every [CorruptError] is it.
var ErrCorrupt = schema.ErrCorrupt

// A CorruptError reports stored content that differs from the bytes that were written. It is EIO and [ErrCorrupt] to
// errors.Is.
type CorruptError struct {
	Sum      Sum    // that was looked for; zero where only an id is known
	Blob     int64  // the row; 0 if there is none, or it is a manifest
	Manifest int64  // the row; 0 if there is none, or it is a blob
	Why      string // the fault
}

// Error names the row, or the sum where there is no row.
func (e *CorruptError) Error() string {
	switch {
	case e.Blob != 0:
		return fmt.Sprintf("blob %d: %s", e.Blob, e.Why)
	case e.Manifest != 0:
		return fmt.Sprintf("manifest %d: %s", e.Manifest, e.Why)
	case !e.Sum.IsZero():
		return fmt.Sprintf("blob with sum %s: %s", e.Sum, e.Why)
	}
	return "content: " + e.Why
}

// Unwrap returns EIO.
func (e *CorruptError) Unwrap() error { return syscall.EIO }

// Is reports whether target is ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }
