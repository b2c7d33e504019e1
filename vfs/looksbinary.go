package vfs

import "bytes"

// LooksBinary reports whether content is taken for something else than text: whether it has a NUL in its first 8192
// bytes. A NUL that comes later does not count, on purpose.
func LooksBinary(p []byte) bool {
	const head = 8192
	return bytes.IndexByte(p[:min(len(p), head)], 0) >= 0
}
