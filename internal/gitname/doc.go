// Package gitname writes the paths and the modes of files as git does, for its patches and for its streams of commits.
package gitname
