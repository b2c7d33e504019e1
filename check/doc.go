// Package check looks for broken promises of a store: rows that do not fit together, trees that do not hang together,
// content that does not have its sum, and a record with gaps.
//
//	report, err := check.Run(ctx, fsys, nil)
//	for _, fault := range report.Faults { ... } // none in a sound store
//
// [Run] reads everything that history retains, each tree at one moment, while the store may be in use. It reports
// each broken promise as a [Fault], with the tree and the path that it touches. An error means that the check could not be
// finished.
//
// The room trusts no other room to read a table for it: it has statements of its own for every table of the file, so that a
// fault of the engine cannot hide itself.
package check
