//go:build !linux

package hostfile

import "io"

// Tie returns nil: logs are not tied to their files here.
func Tie(string, ID) io.Closer { return nil }

// TiedElsewhere reports false.
func TiedElsewhere(string, ID) bool { return false }
