//go:build !linux

package run

import (
	"os"
	"runtime"
)

// Facts are what the ways to run a command depend on, as this host has it: names and values.
func Facts() [][2]string {
	return [][2]string{{"system", runtime.GOOS}, {"temporary directory", os.TempDir()}}
}
