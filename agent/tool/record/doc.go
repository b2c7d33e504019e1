// Package record writes the log of calls. A call does not wait for its row. While one commit of rows runs, the next
// rows gather. [Flush] waits for all rows of a store.
package record
