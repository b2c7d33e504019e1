package schema

import (
	_ "embed"
)

const (
	// Forever is the died of a live row. In SQL it is always the literal 9223372036854775807.
	Forever = 1<<63 - 1

	// Head is the epoch at which a branch is read as it is now.
	Head = Forever - 1

	// FirstID is the lowest id that any table hands out.
	FirstID = 1024

	// FirstEpoch is the epoch that every branch starts in.
	FirstEpoch = 2

	// RootIno is the inode number of the root directory in every branch.
	RootIno = 1024

	// PageSize is the page size of the file in bytes.
	PageSize = 8192
)

const (
	applicationID = 0x76667364 // "vfsd"

	// Version is the format that this package writes, kept in the file's user_version. Older ones are migrated on
	// Open; newer ones are refused with [ErrTooNew].
	Version = 6

	// chunkSize is recorded in meta at creation and cannot change: sums of contents depend on it.
	chunkSize = 524288
)

//go:embed tables.sql
var tables string
