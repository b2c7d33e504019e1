// Package aferofs shows a tree of a store as an afero file system, so that programs that read and write through afero
// work on a branch or on a snapshot:
//
//	app := aferofs.New(ctx, fsys)
//	err := afero.WriteFile(app, "config/site.toml", text, 0o644)
//
// The verbs are those of package os, as with afero.OsFs: a missing directory is an error and is not made. "/" is the
// root of the tree, and ".." stops there. afero's helpers for temporary files want a directory, such as "/tmp", to exist.
//
// It is a module of its own, so that modules that import vfsdb do not get the dependencies of afero.
package aferofs
