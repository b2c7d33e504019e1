// Package tarred reads the entries of a tar: which are there, of what type each is, and whether it may have holes.
package tarred
