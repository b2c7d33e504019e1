package run_test

import (
	"errors"
	"testing"
	"time"

	"vfsdb/run"
)

// A test waits for long, and looks often.
const (
	long = time.Minute
	tick = 5 * time.Millisecond
)

// able skips a test if the host does not allow the way that it needs.
func able(t *testing.T, err error) {
	t.Helper()
	if unable := (*run.UnableError)(nil); errors.As(err, &unable) {
		t.Skip(err)
	}
}
