package textdiff

import "bytes"

// sniffed is how many bytes at the start of some data say whether it is text.
const sniffed = 8000

// Binary reports whether data looks like something else than text, by the rule of git: there is a NUL in its first 8,000
// bytes. The other functions of this package take any data, and do not ask.
func Binary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), sniffed)], 0) >= 0
}
