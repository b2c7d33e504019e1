//go:build !linux

package run

import "os"

// steps returns nothing: only Linux has steps.
func steps() map[string]func(input []byte, report *os.File) (int, error) { return nil }
