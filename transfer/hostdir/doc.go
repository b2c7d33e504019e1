// Package hostdir works in directories of the host by their descriptors, so that nothing done in one can leave it: a
// directory that another program swaps for a symlink meanwhile stays the one that was opened. What systems have in
// different ways is in files by system: times to the nanosecond, special files, the identity and the owner of a file.
//
// One system call has no function in the libraries, listxattrat(2). It gets a name and a buffer of Go's memory, which the
// call does not keep; both pointers are made in the argument list of the call, as package unsafe demands.
package hostdir
