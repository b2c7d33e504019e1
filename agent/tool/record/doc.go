// Package record writes the log of calls. A call does not wait for its row; while one commit of rows runs, the next rows
// gather. [Flush] waits for all of a store.
package record
