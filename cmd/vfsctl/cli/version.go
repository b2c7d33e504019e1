package cli

import (
	"fmt"
	"runtime/debug"

	"vfsdb/schema"
)

// Version is what the program was built from, and the newest file format that it knows.
func Version() string {
	v := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return fmt.Sprintf("%s, file format %d", v, schema.Version)
}
