// Package gogit proves that a store can hold the working files of a foreign program. go-git knows files only through an
// interface of its own. The tests let it create a repository in a store: init, add, commit, repack, prune and clone.
// Then git itself checks an exported copy with fsck, compares the working tree with it, and counts the commits.
//
// The tests run on the branch main, on a branch that is five forks away from it, where each level holds a part of the
// repository, and on a tree that OpenRoot opened. go-git relies on the open files of POSIX: it writes a pack, and reads
// it back through a File that was opened for reading before.
//
// It is a module of its own, so that modules that import vfsdb do not get the dependencies of go-git.
package gogit
