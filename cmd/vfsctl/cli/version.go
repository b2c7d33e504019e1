package cli

import (
	"fmt"
	"runtime/debug"

	"vfsdb/schema"
)

// Version returns the version of the module, and of the newest file format that the program reads.
func Version() string {
	v := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return fmt.Sprintf("%s, file format %d", v, schema.Version)
}
