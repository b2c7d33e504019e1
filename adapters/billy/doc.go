// Package billyfs lets programs that work on a go-billy file system work on a tree of a store. The best known one is
// go-git, which then clones, commits and collects inside of the store:
//
//	tree := billyfs.New(ctx, fsys)
//	dot, err := tree.Chroot(".git")
//	repo, err := git.Init(filesystem.NewStorage(dot, cache.NewObjectLRUDefault()), tree)
//
// Paths are those of package vfs: "/" is the root of the tree, and ".." stops there. As in go-billy's own file systems,
// the directories above a new file are made.
//
// It is a module of its own, so that modules that import vfsdb do not get the dependencies of go-billy.
package billyfs
