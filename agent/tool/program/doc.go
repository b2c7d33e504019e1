// Package program has the words in which tools ask for a program of the host to be run in a branch. The rooms for
// agents know no engine that runs one; a door brings it.
package program
