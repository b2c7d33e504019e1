// Package shell is the command vfsctl shell: a prompt inside a store.
//
// A [cli.Shell] is what its commands share, and each of them is run by [cli.Shell.Run] as a command line of its own. parse.go
// reads lines as sh does and makes steps of them; session.go runs the steps. Both know nothing of terminals. edit.go is the
// line editor, complete.go what it suggests, and history.go what it remembers. commands.go has the commands that only a shell has.
package shell
