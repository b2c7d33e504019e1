// Package cli is what the commands of vfsctl share: the global flags, the database and the tree that they name,
// completions, warnings, and the exit code.
//
// An [App] is one run of the program. A command builds its body with one of four functions. [App.On] opens the
// database and hands over a [Call]: the arguments, and the tree that the flags, $VFS_BRANCH or an earlier switch name.
// [App.OnStore] is for commands about the whole database, and looks only at the flags. [App.Plain] is for commands that need
// no database. [App.WithSource] looks at a file of the host before it lets the body open a database.
//
// Which database that is, and which branch, is known before the body runs: above.go looks for the database, and standing.go
// for what switch has remembered. A fault of either is the error of [App.Open], so a command that needs no database has none.
//
// A body returns an error, and [Run] turns it into a message and an exit code. The error names the failure; the advice
// below it is chosen here, by the kind of the error. An [Exit] is an error without a message: the command has reported
// everything, and only the code is left. [Usage] is for a command line that makes no sense.
//
// A command that creates the database works on a file beside the final name. The file gets that name when the command
// succeeds, so a failed import leaves no database behind.
package cli
