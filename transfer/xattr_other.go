//go:build !linux && !darwin

package transfer

// xattrsOf returns no names. Extended attributes are not read on this system.
func xattrsOf(string) []string { return nil }
