// Package search finds files by their names, and lines by their text, in a tree of package vfs.
//
//	hits, more, err := search.Find(ctx, fsys, "src", &search.FindOptions{Pattern: "*_test.go", MatchBase: true})
//	paths, err := search.Glob(ctx, fsys, "docs/**/*.md")
//	result, err := search.Grep(ctx, fsys, "func main", &search.GrepOptions{Include: []string{"*.go"}})
//	totals, err := search.Usage(ctx, fsys, ".")
//
// # Moments
//
// Each search takes a [Viewer]. A *vfs.FS is one: every page of a directory, and every few MiB of content, is a short
// transaction of its own. So a long search keeps no old moment alive, and a file that is renamed while it runs may be
// missed. A *vfs.Tx is one too: all of the search sees its one moment, and the changes of that transaction.
//
// # Order and symlinks
//
// A search walks the tree in the order of names, as bytes, each directory before its entries. The path that it starts
// from may lead over symlinks; below it, a symlink is an entry like any other and is not followed. Paths in results are
// from the root of the tree, in the form of io/fs, without symlinks.
//
// # Patterns
//
// One dialect of globs is used everywhere, see [Glob]. A [Pattern] is matched name by name while the tree is walked, so
// a directory in which nothing can match is never read, and "src/main.go" is two look-ups. The work is bounded whatever
// the pattern is; [ParsePattern] is for callers that match paths of their own.
//
// # How Grep skips text
//
// From the text or regular expression, Grep derives needs: runs of bytes of which a matching line must contain one. They
// rule text out in three steps, each cheaper than the next:
//
//   - A sketch of each content that an earlier search has read, a Bloom filter of its sequences of four bytes. Content
//     never changes, so a sketch is valid as long as the store is open. It lives in the memory of the store, in 8 MiB at
//     most. Contents that it rules out are not read.
//   - A finder, which looks for the rarest bytes of the cheapest need, eight places at a time. Lines between the places
//     that it finds are not looked at.
//   - The match itself: package regexp, which takes linear time, or a comparison.
//
// On an FS, one goroutine lists files and up to eight search them, in batches; results come in the order of the walk
// whichever is done first. The file run.go has that part, scan.go the way through one file, need.go and finder.go the
// needs.
//
// # Errors
//
// An error is an *fs.PathError with the verb (find, glob, grep, du, pattern) and the path that was given. A directory
// that lies below itself, which only damage can cause, is [vfs.ErrCorrupt], and never an endless search.
package search
