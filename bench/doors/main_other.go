//go:build !linux

// Command doors measures the doors for programs beside the host's file system. Those doors are on Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "doors: run by overlay and live mounts are on Linux only")
	os.Exit(1)
}
