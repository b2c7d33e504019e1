// Package dofs is the profile of Workspace.fs on SQLite: the methods of node:fs/promises that it has, as tools. Results
// have the shapes of these methods, and errors are those of Node: a code and a path. Lists come in pages.
package dofs
