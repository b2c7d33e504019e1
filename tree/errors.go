package tree

import "vfsdb/schema"

// corrupt is a fault of the tables.
func corrupt(format string, args ...any) error { return schema.Corrupt(format, args...) }
