//go:build !linux

package transfer

import (
	"io"
	"os"
)

// holesOf returns a reader of a file. On this system holes are read as zeros.
func holesOf(f *os.File) io.Reader { return f }
