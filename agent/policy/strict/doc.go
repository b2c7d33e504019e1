// Package strict reads YAML and JSON into structs and refuses what does not fit, with the line where it is. A key that is
// not known, or that has no value, is an error: in a policy it would grant what it seems to deny.
package strict
