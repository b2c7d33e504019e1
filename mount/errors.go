package mount

import "errors"

// ErrNotAllowed is the error of a host that does not let this process mount. It comes with the errno of the host.
var ErrNotAllowed = errors.New("a mount needs /dev/fuse, and unless root makes it the program fusermount3")
