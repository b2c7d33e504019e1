//go:build !linux && !darwin

package transfer

// xattrsOf returns no names: there are no extended attributes here that are known.
func xattrsOf(string) []string { return nil }
