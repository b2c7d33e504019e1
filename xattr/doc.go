// Package xattr reads and sets the extended attributes of files: values under names, beside the content.
//
//	err := xattr.Set(ctx, fsys, "report.pdf", xattr.Follow, "user.origin", []byte("https://example.org"), 0)
//	origin, err := xattr.Get(ctx, fsys, "report.pdf", xattr.Follow, "user.origin")
//	names, err := xattr.List(ctx, fsys, "report.pdf", xattr.Follow)
//
// # What can have them
//
// Regular files and directories have attributes, in the namespace user only: a name begins with "user.", and has up to 255
// bytes with that. A value has up to 64 KiB, and so have all attributes of a file together, as they are stored. They belong
// to the inode, not to a name: all hard links show them; snapshots, branches, copies and restores keep them.
//
// # Errors
//
// They are those of xattr(7) on Linux. A name of another namespace is EOPNOTSUPP, an empty or too long one ERANGE, and
// "user." alone EINVAL. An attribute that does not exist is ENODATA. Too long a value is E2BIG, and more than a file has
// room for ENOSPC. To set or remove one of a symlink or a special file is EPERM; to read it is ENODATA, and its list is empty.
//
// # Transactions
//
// ListIn, GetIn, SetIn and RemoveIn do the same as a part of the caller's transaction. A room that knows an inode by its
// number takes [vfsdb/tree.Tx.SetXattr] and its kin, which these functions call.
//
// Each change is an event of the log, "xattr", with the name of the attribute as its argument. It sets the ctime of the file.
package xattr
