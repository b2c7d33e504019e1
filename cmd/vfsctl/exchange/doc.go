// Package exchange has the commands of vfsctl that move whole trees in and out: import and export, for which archive.go
// knows the formats, and backup, which copies the database.
package exchange
