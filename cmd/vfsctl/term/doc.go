// Package term writes to standard output and standard error. An [Output] knows whether a terminal is behind it: only a
// terminal gets colours, columns and progress. The other readers are programs, which get lines or JSON.
//
// A line on a terminal is flushed at once. Other output is buffered, and the end of the program flushes it.
package term
