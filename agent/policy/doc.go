// Package policy decides what tools may do with a tree. A [Policy] is asked about resolved paths, which have no
// symlink in them: whether tools may see, read or change a path, and whether somebody has to approve that first.
// [Parse] reads one from YAML or JSON.
package policy
