// Package glob matches paths inside a tree with the patterns of transfer.ImportOptions.Exclude, in the dialect of
// doublestar.
package glob
