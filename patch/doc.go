// Package patch writes the difference of two trees as text, in the format of git: git apply and patch -p1 take it, and people
// read it.
//
//	err := patch.Write(ctx, os.Stdout, before, try, nil)
//
//	for f, err := range patch.Files(ctx, before, try, &patch.Options{Paths: []string{"docs"}}) {
//		fmt.Println(f.Path, f.Added, f.Removed)
//	}
//
// # What is in a patch
//
// A patch has a section for each regular file and each symlink that differs, in the order of their paths. Its hunks are those of
// package textdiff, and so those of git diff. A path is quoted as git quotes it, and modes are the three that git has.
//
// A file that was renamed is recognized by the number of its inode, and never by a guess: a rename and an edit are one section.
// A file that took the name of another one is a change of that other one, unless that moved away too; else git apply would
// refuse the patch. A hard link is a file of its own.
//
// Each section has the ids that git would give the contents, so that git apply --3way finds them in a repository. They are cut
// to seven digits, as in git diff; with [Options.Binary] they are whole, because git apply wants that for binary contents.
//
// # What git has no word for
//
// Empty directories, owners, permissions other than the bit to execute, extended attributes, and devices are comments: lines
// that begin with '#' and stand between the sections. git apply and patch skip them. Times are in no patch.
//
// # Cost
//
// A patch costs as much as was changed since the two trees were one, and as much as lies below directories that came, went or
// moved. Both trees are read in one transaction. The largest text is 64 MiB; a longer file is taken for a binary one.
//
// Functions keep no state. They can be called at the same time, on the same trees too.
package patch
