// Package mimetype tells the MIME type of a file from a table of its own. Package mime reads the tables of the host, so
// the same file would have another type on another machine: a go.mod was an audio file, a .ts a Qt translation.
package mimetype
