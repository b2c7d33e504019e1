// Package mimetype finds the MIME type of a file in a table of its own. Package mime reads the tables of the host,
// where the same file has another type on another machine: a go.mod was an audio file, and a .ts a Qt translation.
package mimetype
