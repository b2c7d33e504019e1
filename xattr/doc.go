// Package xattr reads and sets the extended attributes of files: values under names, beside the content.
//
//	err := xattr.Set(ctx, fsys, "report.pdf", xattr.Follow, "user.origin", []byte("https://example.org"), 0)
//	origin, err := xattr.Get(ctx, fsys, "report.pdf", xattr.Follow, "user.origin")
//	names, err := xattr.List(ctx, fsys, "report.pdf", xattr.Follow)
//
// # Files and bounds
//
// Regular files and directories have attributes, in the namespace user only. A name begins with "user." and has at most 255
// bytes, these five included. A value has at most 64 KiB, and so have all attributes of a file together, as they are stored.
// Attributes belong to the inode: all hard links show them, and snapshots, branches, copies and restores keep them.
//
// # Errors
//
// They are those of xattr(7) on Linux. A name of another namespace is EOPNOTSUPP, an empty or too long one ERANGE, and
// "user." alone EINVAL. An attribute that does not exist is ENODATA. A value that is too long is E2BIG. A file
// without room for one more is ENOSPC. On a symlink or a special file, Set and Remove are EPERM, Get is ENODATA, and List is
// empty.
//
// # Transactions
//
// ListIn, GetIn, SetIn and RemoveIn do the same as a part of the caller's transaction. A room that has the number of an
// inode calls [vfsdb/tree.Tx.SetXattr] and the functions beside it, as this package does.
//
// Each change is an event of the log, "xattr", with the name of the attribute as its argument. It sets the ctime of the file.
package xattr
