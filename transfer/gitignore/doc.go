// Package gitignore decides which paths the .gitignore files of a tree leave out, as git does.
//
//	top := (*gitignore.Rules)(nil).Below("", "*.log\n!keep.log\n")
//	top.Match("build/x.log", false) // true
//
// Each directory adds the rules of its file to those of the directories above. A caller that walks a tree asks about each
// path with the rules of the directory that holds it, and does not enter a directory that is left out. Git's rules of the
// repository and of the user are not read.
package gitignore
