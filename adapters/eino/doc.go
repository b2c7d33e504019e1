// Package einofs gives the agents of eino a tree of a store as their file system, and runs their commands in a branch:
//
//	files := einofs.New(fsys)
//	shell := einofs.NewShell(fsys, nil)
//	middleware, err := filesystem.New(ctx, &filesystem.MiddlewareConfig{Backend: files, Shell: shell})
//
// A path begins at the root of the tree, with or without a slash in front. Each change is one commit, and so is each
// command. On a snapshot the changes fail with EROFS.
//
// An answer that would be too long for a model is an error that says how to ask for less: none is cut in silence.
//
// It is a module of its own, so that modules that import vfsdb do not get the dependencies of eino.
package einofs
