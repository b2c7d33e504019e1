package vfs

import "bytes"

// LooksBinary reports whether content has a NUL in its first 8192 bytes, and so is not taken for text.
func LooksBinary(p []byte) bool {
	const head = 8192
	return bytes.IndexByte(p[:min(len(p), head)], 0) >= 0
}
