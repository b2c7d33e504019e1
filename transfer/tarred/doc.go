// Package tarred reads the header of an entry of a tar: its type, and whether it may have holes.
package tarred
