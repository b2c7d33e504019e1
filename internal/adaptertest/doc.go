// Package adaptertest attacks an adapter: a tree of a store behind the file interface of another project. It asks for
// what every such interface has, so that go-billy's and afero's are tested by one table: wrong paths, symlinks that
// lead out or in circles, trees that refuse writes, files that are removed or closed under their users, sparse files
// longer than memory, and many users at once.
package adaptertest
