package run

import (
	"context"
	"errors"
	"fmt"
	"syscall"
)

// open finds the first engine that the options name and the host allows, and opens a session of it. declined are the
// engines before it.
func (t *task) open(ctx context.Context) (s session, via Via, declined []UnableError, err error) {
	var all []error
	for _, e := range engines() {
		if t.o.Via != e.via() && (t.o.Via != Auto || e.via() == Live) {
			continue
		}
		s, err := e.open(ctx, t)
		if err == nil {
			return s, e.via(), declined, nil
		}
		unable := (*UnableError)(nil)
		if !errors.As(err, &unable) {
			return nil, "", nil, err
		}
		declined, all = append(declined, *unable), append(all, unable)
	}
	if len(all) == 0 {
		return nil, "", nil, fmt.Errorf("run by %q: %w: the ways are overlay, copy and live", t.o.Via, syscall.EINVAL)
	}
	return nil, "", nil, errors.Join(all...)
}
