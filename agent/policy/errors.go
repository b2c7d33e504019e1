package policy

import (
	"fmt"
	"syscall"
)

// An Error is a call that the policy does not allow. It is EACCES.
type Error struct {
	Path       string     // resolved, from the root; "" if the call is refused whatever its path
	Permission Permission // that it would have needed
	Why        string     // the reason, if it is not the path
}

func (e *Error) Error() string {
	if e.Why != "" {
		return e.Why
	}
	return fmt.Sprintf("Path '%s' is outside allowed paths", e.Path)
}

// Unwrap makes an Error an EACCES.
func (e *Error) Unwrap() error { return syscall.EACCES }

// A SizeError is a file beyond the policy's max_file_size or max_write_size. It is EFBIG.
type SizeError struct {
	Path      string
	Size, Max int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("'%s' is %d bytes, above the limit of %d", e.Path, e.Size, e.Max)
}

// Unwrap makes a SizeError an EFBIG.
func (e *SizeError) Unwrap() error { return syscall.EFBIG }

// A QuotaError is a call that would have left more in the branch than the policy's quota. It is EDQUOT.
type QuotaError struct {
	What      string // "bytes" or "entries"
	Held, Max int64
}

func (e *QuotaError) Error() string {
	return fmt.Sprintf("the workspace would hold %d %s, above its quota of %d", e.Held, e.What, e.Max)
}

// Unwrap makes a QuotaError an EDQUOT.
func (e *QuotaError) Unwrap() error { return syscall.EDQUOT }
