//go:build !unix

package engine

import "zombiezen.com/go/sqlite"

// Descriptor reports that there are no descriptors here.
func Descriptor(*sqlite.Conn) (fd int, ok bool) { return 0, false }

func descriptor(uintptr) (fd int, ok bool) { return 0, false }
