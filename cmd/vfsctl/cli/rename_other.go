//go:build !linux

package cli

// renameNew renames a file, and not over another one: that is EEXIST.
func renameNew(from, to string) error { return renameIfAbsent(from, to) }
