// Package hostdir works in directories of the host by their descriptors, so that nothing done in one can leave it: a
// directory that another program swaps for a symlink meanwhile stays the one that was opened. What systems have in
// different ways is in files by system: times to the nanosecond, special files, the identity and the owner of a file.
package hostdir
