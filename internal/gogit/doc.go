// Package gogit proves that a store can hold what a program of others works on. Its tests let go-git, which knows files
// only through an interface of its own, create a repository in a store: init, add, commit, repack, prune and clone. The
// real git then checks an exported copy with fsck, compares the working tree with it, and counts the commits.
//
// They do so on the branch main, on a branch that is five forks away from it, where each level holds a part of the
// repository, and on a tree that OpenRoot opened. go-git relies on what an open file of POSIX does: it writes a pack, and
// reads it back through a File that was opened for reading before.
//
// It is a module of its own, so that those who import vfsdb do not get what go-git needs.
package gogit
