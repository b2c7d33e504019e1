// Package shell reads a command of a POSIX shell and names the programs that it starts.
package shell
