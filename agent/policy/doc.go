// Package policy says what tools may do with a tree. A [Policy] is asked about resolved paths, which have no symlink in
// them: whether a path may be known of, read or changed, and whether somebody has to approve that first. [Parse] reads one
// from YAML or JSON.
package policy
